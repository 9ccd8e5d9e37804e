"""Labels as they are in practice: some wrong, some missing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator

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
    """Make some labels wrong, always the same ones; the images stay right.

    A categorical label is replaced, with probability ``p``, by a uniform draw from all
    values. An ordered label is moved by Gaussian noise with mean 0 and standard
    deviation ``p`` on the factor scaled to run from 0 to 1, then rounded to the nearest
    value and clipped to the range (wrapped if the factor is cyclic, not rounded if it
    is continuous). The noise depends on the seed, the factor's name and the row only;
    a missing label stays missing.

    Args:
        dataset: A dataset with labels.
        level: Noise model 1, 2 or 3 of the paper, or ``p`` from 0 to 1 for each factor
            that gets noise. A noise model gives ``p`` of shape to categorical factors,
            ``p`` of scale to factors named after a scale or size, ``p`` of orientation
            to cyclic factors and those named after an orientation, azimuth or rotation,
            and ``p`` of position to every other one.
        seed: Any integer from 0.

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
        Models without Knowledge of Latent Factors, Table 2. The text beside it says
        "uniformly" and "Gaussian noise with mean 0" and no more: that ``p`` is a
        probability for the former and a standard deviation on a unit range for the
        latter, and that rounding and clipping follow, is our reading. The paper
        perturbs the one factor that a metric holds fixed; here every label of the
        dataset is perturbed once, for all metrics.
    """
    table, space = label_table(dataset, who="add_label_noise"), dataset.factor_space
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
            table[:, column] = _noisy(labels, values, kind, p, generator)
    columns = space or _kinds(dataset, range(table.shape[1]))
    return Relabeled(dataset, table, columns)


def keep_labels(
    dataset: AbstractDataset,
    *,
    n: int | None = None,
    factors: Sequence[str | int] | None = None,
    seed: int = 0,
) -> Relabeled:
    """Forget labels: know only some factors, or all that are left in some rows only.

    Args:
        dataset: A dataset with labels.
        n: Number of rows, from 1, that keep their labels; they are drawn at random,
            and with the same seed fewer rows are always among more. The labels of the
            other rows are missing (NaN), so the view has no ``factor_space``. All rows
            when not given.
        factors: Factors (name or column) that are known, in this order; the others are
            dropped, as if nobody had thought of them. All factors when not given.
        seed: Any integer from 0.

    Returns:
        A view with the labels that are left.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(n_squares=1, image_size=16)
        >>> keep_labels(squares, n=2, factors=["y_R"]).factors(range(4))
        array([[nan],
               [ 1.],
               [nan],
               [ 1.]])
    """
    if n is not None and not 1 <= n <= len(dataset):
        raise ValueError(
            f"keep_labels: expected n from 1 to the number of rows {len(dataset)}, "
            f"got {n}."
        )
    table = label_table(dataset, who="keep_labels")
    wanted = dataset.factor_names if factors is None else factors
    columns = [factor_position(dataset, f, who="keep_labels") for f in wanted]
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(
            f"keep_labels: expected different factors, at least one, got {wanted}."
        )
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
                "add_label_noise: expected level 1, 2 or 3, or a mapping from factors "
                f"to p, got {level!r}."
            )
        described = zip(dataset.factor_names, dataset.factor_kinds, strict=True)
        return dict(enumerate(_p(_REGIMES[level], *factor) for factor in described))
    who = "add_label_noise"
    noise = {factor_position(dataset, f, who=who): p for f, p in level.items()}
    for p in noise.values():
        if not 0 <= p <= 1:
            raise ValueError(f"add_label_noise: expected p from 0 to 1, got {p}.")
    return noise


def _p(regime: _Regime, name: str, kind: Kind) -> float:
    def is_named(*words: str) -> bool:
        return any(word in name.lower() for word in words)

    if kind == "categorical":
        return regime.shape
    if is_named("scale", "size"):
        return regime.scale
    if kind == "cyclic" or is_named("orient", "azimuth", "rotation"):
        return regime.orientation
    return regime.position


def _noisy(
    labels: NDArray[Any],
    values: NDArray[Any],
    kind: Kind,
    p: float,
    generator: np.random.Generator,
) -> NDArray[Any]:
    """Labels after noise; ``values`` are all that may occur, from least to greatest."""
    if kind == "continuous":
        step = p * (values[-1] - values[0])
        moved = labels + step * generator.standard_normal(len(labels))
        return moved.clip(values[0], values[-1])
    last = len(values) - 1
    # A missing label sorts behind all values; it is put back in the end.
    codes = np.searchsorted(values, labels).clip(max=last)
    if kind == "categorical":
        chance, draw = generator.random((len(labels), 2)).T
        moved = np.where(chance < p, np.floor(draw * len(values)), codes)
    else:
        moved = np.rint(codes + p * last * generator.standard_normal(len(labels)))
        moved = moved % len(values) if kind == "cyclic" else moved.clip(0, last)
    return np.where(np.isnan(labels), labels, values[moved.astype(np.int64)])
