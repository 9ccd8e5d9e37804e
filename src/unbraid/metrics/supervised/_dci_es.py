"""DCI-ES: how easily factors are predicted from codes, and how many codes there are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._score import Score
from unbraid.metrics._splits import Split, split_rows

WAVES = (0, 8, 16, 32, 64, 128, 256, 512, 1024)

_RIDGE = 1e-4
"""Penalty of the probes, per training row, on weights of features of variance 1."""


@dataclass(frozen=True, kw_only=True)
class DCIES:
    """The two scores of :func:`dci_es`, and the curves behind them.

    Attributes:
        explicitness: High if probes of small capacity predict the factors.
        size: High if there are few latents relative to the factors.
        capacities: Weights of each probe, ``(n_probes,)``.
        losses: Loss of each probe for each factor, ``(n_probes, n_factors)``.
    """

    explicitness: Score
    size: Score
    capacities: NDArray[np.int64]
    losses: NDArray[np.float64]


def dci_es(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    waves: Sequence[int] = WAVES,
    n_train: int = 10_000,
    n_test: int = 5_000,
    seed: int = 0,
) -> DCIES:
    r"""Explicitness and size of a representation, the E and S of DCI-ES.

    Predict each factor with probes of growing capacity :math:`\kappa_t`. If the
    smallest probe is as good as the largest, the factor is explicit; if the loss falls
    with capacity only slowly, it is hidden.

    .. math::
        E_k = 1 - \frac{A_k}{Z}, \quad
        A_k = \int (\ell_k(\kappa) - \ell_k^*) \, d \log \kappa, \quad
        Z = \frac{\ell^b}{2} \log \frac{\kappa_{\max}}{\kappa_{\min}}, \quad
        S = \min(1, K / L)

    Here :math:`\ell_k` is the lowest test loss of a probe of at most that capacity,
    :math:`\ell_k^*` its end, :math:`\ell^b` the loss of a constant prediction, and the
    integral is that of straight lines between probes. :math:`E` is the mean over
    factors: 1 when the smallest probe is best, 0 when the loss falls in a straight line
    from the baseline to 0, -1 when only the largest probe is better than the baseline.
    It measures how early the best loss is reached, not how low it is: codes without
    information about a factor are equally bad with any probe, and get 1. Look at the
    loss itself, too; ``note`` names the factors that no probe can predict.

    The paper leaves the probes open. Here a probe is a ridge regression on the
    standardized latents and on random Fourier features of them (cosines of random
    projections, of random phase and of frequencies from 0.1 to 10); its capacity is its
    number of weights, and the smallest one is linear. The loss is the share of the
    variance that is not explained, so :math:`\ell^b = 1`. Categorical factors are
    predicted as indicators of their classes, all others as numbers.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``. Constant latents have no
            information, but count for size.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`. For each
            factor, rows where it is missing are left out.
        waves: Numbers of random Fourier features of the probes, at least two numbers in
            ascending order.
        n_train: Number of rows to learn from; fewer if there are not enough.
        n_test: Number of rows to test on; fewer if there are not enough.
        seed: Seed of the random rows and features.

    Returns:
        Explicitness from -1 to 1 with a value per factor and, in ``details``, the mean
        loss of the smallest probe and the lowest one; size from 0 to 1, 1 when there
        are no more latents than factors, with ``n_latents`` and ``n_factors``; and the
        curves.

    Raises:
        ValueError: If ``waves`` are not ascending, or the input is not as above.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> factors = generator.uniform(-1, 1, size=(900, 2))
        >>> scores = dci_es(factors @ np.array([[1.0, 1.0], [1.0, -1.0]]), factors)
        >>> round(scores.explicitness, 2), scores.size
        (1.0, 1.0)
        >>> circles = np.hstack([np.cos(3 * factors), np.sin(3 * factors)])
        >>> dci_es(circles, factors).explicitness < 0.9
        True

    References:
        Eastwood et al. (2023), DCI-ES: An Extended Disentanglement Framework with
        Connections to Identifiability, Section 4; normalized as in the authors' script.
        https://openreview.net/forum?id=462z-gLgSht
        Rahimi and Recht (2007), Random Features for Large-Scale Kernel Machines.
    """
    codes, factors = read_inputs("dci_es", codes, factors)
    check_count("dci_es: n_train", n_train)
    check_count("dci_es: n_test", n_test)
    n_waves = _check_waves(waves)
    losses = np.empty((len(n_waves), factors.n_factors))
    # Factors that are known in the same rows share the work.
    groups: dict[bytes, list[int]] = {}
    for k, column in enumerate(np.packbits(factors.known, axis=0).T):
        groups.setdefault(column.tobytes(), []).append(k)
    for members in groups.values():
        rows = np.flatnonzero(factors.known[:, members[0]])
        split = split_rows(
            len(rows),
            n_train=n_train,
            n_test=n_test,
            generator=numpy_generator(seed, "dci_es", "rows"),
        )
        part = Split(rows[split.train], rows[split.test])
        losses[:, members] = _losses(codes, factors, members, part, n_waves, seed)
    capacities = codes.shape[1] + 1 + n_waves
    return _scores(capacities, losses, factors.names, codes.shape[1], seed)


def _check_waves(waves: Sequence[int]) -> NDArray[np.int64]:
    for number in waves:
        check_count("dci_es: every number of waves", number, least=0)
    numbers = np.array(waves, dtype=np.int64)
    if len(numbers) < 2 or (np.diff(numbers) <= 0).any():
        raise ValueError(
            f"dci_es: waves must be two or more ascending numbers, got {waves}."
        )
    return numbers


def _losses(
    codes: NDArray[np.float64],
    factors: Factors,
    members: Sequence[int],
    split: Split,
    waves: NDArray[np.int64],
    seed: int,
) -> NDArray[np.float64]:
    """Return the loss of each probe for some factors, ``(n_probes, n_members)``."""
    from scipy.linalg import cho_factor, cho_solve  # slow to import

    train = _standardize(codes[split.train], codes[split.train])
    test = _standardize(codes[split.test], codes[split.train])
    generator = numpy_generator(seed, "dci_es", "waves")
    projections, phases = _random_waves(codes.shape[1], waves[-1], generator)
    raw = np.cos(train @ projections + phases)
    train = np.hstack([train, _standardize(raw, raw)])
    test = np.hstack([test, _standardize(np.cos(test @ projections + phases), raw)])
    learned = [_targets(factors, k, split.train) for k in members]
    ends = np.cumsum([target.shape[1] for target in learned])[:-1]
    learned = np.hstack(learned)
    wanted = np.hstack([_targets(factors, k, split.test) for k in members])
    means = learned.mean(axis=0)
    gram = train.T @ train
    gram[np.diag_indices_from(gram)] += _RIDGE * len(train)
    moments = train.T @ (learned - means)
    variance = [part.sum() for part in np.split(((wanted - means) ** 2).mean(0), ends)]
    losses = []
    for n in codes.shape[1] + waves:
        weights = cho_solve(cho_factor(gram[:n, :n]), moments[:n])
        errors = ((wanted - means - test[:, :n] @ weights) ** 2).mean(axis=0)
        losses.append([part.sum() for part in np.split(errors, ends)])
    table = np.array(losses)
    # If all test rows have the mean of the training rows, nothing can be predicted.
    unread = np.ones_like(table)
    return np.divide(table, variance, out=unread, where=np.array(variance) > 0)


def _standardize(
    values: NDArray[np.float64], reference: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Standardize columns by a reference; constant ones become zero."""
    spread = reference.std(axis=0)
    return (values - reference.mean(axis=0)) * (spread > 0) / np.maximum(spread, 1e-300)


def _random_waves(
    n_latents: int, n_waves: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    directions = generator.standard_normal((n_latents, n_waves)) / np.sqrt(n_latents)
    frequencies = 10.0 ** generator.uniform(-1, 1, size=n_waves)
    return directions * frequencies, generator.uniform(0, 2 * np.pi, size=n_waves)


def _targets(
    factors: Factors, k: int, rows: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the targets of the probes of a factor, ``(n_rows, n_targets)``."""
    if factors.kinds[k] == "categorical":
        return np.eye(factors.sizes[k])[factors.labels[rows, k]]
    return factors.values[rows, k, None]


def _scores(
    capacities: NDArray[np.int64],
    losses: NDArray[np.float64],
    names: Sequence[str],
    n_latents: int,
    seed: int,
) -> DCIES:
    # A larger probe could ignore its extra weights, and the baseline needs none.
    lowest = np.minimum.accumulate(np.minimum(losses, 1.0), axis=0)
    above = lowest - lowest[-1]
    steps = np.diff(np.log(capacities))
    per_factor = 1.0 - steps @ (above[1:] + above[:-1]) / steps.sum()
    unread = [name for name, loss in zip(names, lowest[-1], strict=True) if loss > 0.95]
    return DCIES(
        explicitness=Score(
            per_factor.mean(),
            name="dci_es_explicitness",
            per_factor=dict(zip(names, per_factor, strict=True)),
            details={
                "smallest_probe_loss": lowest[0].mean(),
                "lowest_loss": lowest[-1].mean(),
            },
            seed=seed,
            note=f"meaningless, no probe predicts: {', '.join(unread)}" * bool(unread),
        ),
        size=Score(
            min(1.0, len(names) / n_latents),
            name="dci_es_size",
            details={"n_latents": n_latents, "n_factors": len(names)},
        ),
        capacities=capacities,
        losses=losses,
    )
