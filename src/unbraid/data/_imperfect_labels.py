"""Imperfect labels: some wrong, some missing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_number, numpy_generator

from ._dataset import AbstractDataset, Kind
from ._factor_space import FactorSpace
from ._labels import factor_position, label_table
from ._views import Relabeled


class _Regime(NamedTuple):
    shape: float
    scale: float
    orientation: float
    position: float


_REGIMES = {
    1: _Regime(shape=0.05, scale=0.1, orientation=0.05, position=0.05),
    2: _Regime(shape=0.1, scale=0.2, orientation=0.1, position=0.1),
    3: _Regime(shape=0.3, scale=0.3, orientation=0.3, position=0.3),
}


def add_label_noise(
    dataset: AbstractDataset,
    level: Literal[1, 2, 3] | Mapping[str | int, float],
    *,
    seed: int = 0,
) -> Relabeled:
    """Make some labels wrong, the same ones in every call; images do not change.

    A categorical label is replaced, with probability ``p``, by a uniform draw from all
    values. An ordered label is shifted by Gaussian noise with mean 0 and standard
    deviation ``p`` on the factor scaled to [0, 1], then rounded to the nearest value
    and clipped to the range (wrapped if the factor is cyclic, not rounded if it is
    continuous). The noise depends only on the seed, the factor's name and the row.
    Missing labels remain missing.

    Args:
        dataset: A dataset with labels.
        level: Noise model 1, 2 or 3 of the paper, or a mapping from factors to ``p``,
            between 0 and 1. A noise model applies the ``p`` of shape to categorical
            factors, that of scale to factors named after a scale or size, that of
            orientation to cyclic factors and those named after an orientation, azimuth
            or rotation, and that of position to all others.
        seed: Seed of the noise, at least 0.

    Returns:
        A view with the same factors and noisy values.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(n_squares=1)
        >>> noisy = add_label_noise(squares, {"x_R": 0.3})
        >>> (noisy.factors(range(64)) != squares.factors(range(64))).mean(axis=0)
        array([0.734375, 0.      ])

    References:
        Holtz, Mishne and Cloninger (2022), Evaluating Disentanglement in Generative
        Models without Knowledge of Latent Factors, Table 2. The text only says
        "uniformly" and "Gaussian noise with mean 0". That ``p`` is a probability in the
        first case and a standard deviation on a unit range in the second, and that
        rounding and clipping follow, is our interpretation. The paper perturbs the one
        factor that a metric holds fixed; here every label of the dataset is perturbed
        once, for all metrics.
    """
    table, space = label_table(dataset), dataset.factor_space
    for column, p in _noise_of_columns(dataset, level).items():
        name, kind = dataset.factor_names[column], dataset.factor_kinds[column]
        labels = table[:, column]
        values = (
            np.arange(space.sizes[column])
            if space is not None
            else np.unique(labels[~np.isnan(labels)])
        )
        generator = numpy_generator(seed, "label_noise", name)
        if values.size:
            table[:, column] = _add_noise(labels, values, kind, p, generator)
    columns = space or _kinds(dataset, range(table.shape[1]))
    return Relabeled(dataset, table, columns)


def keep_labels(
    dataset: AbstractDataset,
    *,
    n: int | None = None,
    factors: Sequence[str | int] | None = None,
    seed: int = 0,
) -> Relabeled:
    """Keep only the labels of some factors, or of some rows.

    Args:
        dataset: A dataset with labels.
        n: Number of rows that keep their labels, at least 1. They are drawn at random;
            with the same seed, a smaller set is contained in a larger one. The labels
            of the other rows are missing (NaN), so that the view has no
            ``factor_space``. Default: all rows.
        factors: Names or columns of the factors to keep, in this order. Default: all.
        seed: Seed of the draw, at least 0.

    Returns:
        A view with the remaining labels.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(n_squares=1, image_size=16)
        >>> keep_labels(squares, n=2, factors=["y_R"]).factors(range(4))
        array([[nan],
               [ 1.],
               [nan],
               [ 1.]])
    """
    if n is not None:
        check_number("n", n, least=1, most=len(dataset))
    table = label_table(dataset)
    kept = dataset.factor_names if factors is None else factors
    columns = [factor_position(dataset, factor) for factor in kept]
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"factors must be different, and at least one, got {kept}.")
    table, space = table[:, columns], dataset.factor_space
    if n is not None and n < len(dataset):
        order = numpy_generator(seed, "keep_labels").permutation(len(dataset))
        table = table.astype(np.float64)
        table[order[n:]] = np.nan
    elif space is not None:
        known = FactorSpace(
            tuple(space.names[column] for column in columns),
            tuple(space.sizes[column] for column in columns),
            tuple(space.kinds[column] for column in columns),
        )
        return Relabeled(dataset, table, known)
    return Relabeled(dataset, table, _kinds(dataset, columns))


def _kinds(dataset: AbstractDataset, columns: Iterable[int]) -> dict[str, Kind]:
    return {dataset.factor_names[c]: dataset.factor_kinds[c] for c in columns}


def _noise_of_columns(
    dataset: AbstractDataset, level: Literal[1, 2, 3] | Mapping[str | int, float]
) -> dict[int, float]:
    if not isinstance(level, Mapping):
        if level not in _REGIMES:
            raise ValueError(
                "level must be 1, 2 or 3, or a mapping from factors to probabilities, "
                f"got {level!r}."
            )
        factors = zip(dataset.factor_names, dataset.factor_kinds, strict=True)
        return dict(enumerate(_p(_REGIMES[level], *factor) for factor in factors))
    for p in level.values():
        check_number("p", p, least=0.0, most=1.0)
    return {factor_position(dataset, factor): p for factor, p in level.items()}


def _p(regime: _Regime, name: str, kind: Kind) -> float:
    def is_named(*parts: str) -> bool:
        return any(part in name.lower() for part in parts)

    if kind == "categorical":
        return regime.shape
    if is_named("scale", "size"):
        return regime.scale
    if kind == "cyclic" or is_named("orient", "azimuth", "rotation"):
        return regime.orientation
    return regime.position


def _add_noise(
    labels: NDArray[Any],
    values: NDArray[Any],
    kind: Kind,
    p: float,
    generator: np.random.Generator,
) -> NDArray[Any]:
    """Return labels with noise; ``values`` are all values in ascending order."""
    if kind == "continuous":
        step = p * (values[-1] - values[0])
        moved = labels + step * generator.standard_normal(len(labels))
        return moved.clip(values[0], values[-1])
    last = len(values) - 1
    # A missing label sorts after all values; it is restored at the end.
    codes = np.searchsorted(values, labels).clip(max=last)
    if kind == "categorical":
        coin, draw = generator.random((len(labels), 2)).T
        moved = np.where(coin < p, np.floor(draw * len(values)), codes)
    else:
        moved = np.rint(codes + p * last * generator.standard_normal(len(labels)))
        moved = moved % len(values) if kind == "cyclic" else moved.clip(0, last)
    return np.where(np.isnan(labels), labels, values[moved.astype(np.int64)])
