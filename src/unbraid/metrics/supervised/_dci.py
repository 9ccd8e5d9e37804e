"""DCI: disentanglement, completeness and informativeness, from learned predictors."""

import contextlib
import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from unbraid.foundation import check_count, check_option, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._labeled import labeled_rows
from unbraid.metrics._predictors import Fit, Sample, Variant, fit_predictor
from unbraid.metrics._score import Score
from unbraid.metrics._splits import Split, split_rows

_FLOOR = 1e-11
"""Added to every importance, so that rows and columns of zeros have an entropy."""


@dataclass(frozen=True, kw_only=True)
class DCI:
    """The three scores of :func:`dci`.

    Attributes:
        disentanglement: Does each latent matter to one factor only?
        completeness: Is each factor held by one latent only?
        informativeness: Can the factors be predicted well?
    """

    disentanglement: Score
    completeness: Score
    informativeness: Score


def dci(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    variant: Variant = "fast",
    n_train: int = 10_000,
    n_test: int = 5_000,
    split: Split | None = None,
    seed: int = 0,
) -> DCI:
    r"""Disentanglement, completeness and informativeness (DCI) of a representation.

    Each factor is predicted from all latents; :math:`R_{jk} \ge 0` is the importance of
    latent :math:`j` for the predictor of factor :math:`k`. A latent is disentangled if
    its row of :math:`R` has one large entry; a factor is encoded completely by one
    latent if its column has one large entry.

    .. math::
        D = \sum_j \frac{\sum_k R_{jk}}{\sum_{ik} R_{ik}}
            \bigl(1 - H_K(R_{j \cdot})\bigr),
        \qquad
        C = \sum_k \frac{\sum_j R_{jk}}{\sum_{ji} R_{ji}}
            \bigl(1 - H_L(R_{\cdot k})\bigr)

    :math:`H_b` is the entropy, to base :math:`b`, of a row or column that is scaled to
    sum to one (after adding 1e-11 to each entry); :math:`K` and :math:`L` are the
    numbers of factors and latents.

    Variants, each with its predictor and :math:`R`:

    - ``"fast"``: gradient boosting as in ``"dlib"``, but in 30 rounds of rate 1/3
      instead of 100 of rate 0.1, and with latents sorted once; latents that split the
      rows in the same way share the importance. Agrees with ``"dlib"`` to about 0.01 in
      disentanglement and completeness at a small part of the time.
    - ``"dlib"``: scikit-learn's gradient boosting with its default settings, as in
      disentanglement_lib; :math:`R` is the fall of squared error at the splits of a
      latent, as a share of the whole. Of equal splits it takes a random one, so that
      scores depend on the seed a little.
    - ``"logistic"``: penalized logistic regression, with the penalty chosen among ten
      by 5-fold cross-validation (one fold of more than 1,000 rows); :math:`R` is the
      size of the weights of the standardized latents, averaged over classes. Numbers
      are predicted by ridge regression.
    - ``"lasso"``: linear regression with the penalty chosen among eight by 5-fold
      cross-validation; :math:`R` is the size of the weights between standardized
      latents and the standardized factor. Predicts numbers, also for ordinal and cyclic
      factors; a categorical factor becomes one indicator per class, whose weights are
      averaged and whose largest prediction is the class.
    - ``"random_forest"``: 100 trees with at least 5 rows in a leaf and all latents
      tried at every split; :math:`R` is the mean fall of impurity, as a share of the
      whole.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``. A constant latent has importance
            0; duplicate latents share it. With one latent, completeness is 1.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`. Continuous
            factors are predicted as numbers, others as classes, which takes time for
            each class; for each factor, rows where it is missing are left out. With one
            factor, disentanglement is 1.
        variant: Predictor, see above.
        n_train: Rows (labels) to learn from; fewer if there are not enough.
        n_test: Number of rows to test on; fewer if there are not enough.
        split: Rows to learn from and to test on, instead of random ones.
        seed: Seed of the random rows and of the predictor.

    Returns:
        Three scores from 0 to 1, higher is better, each with :math:`R` as ``matrix``.
        Informativeness is the accuracy on the test rows, and where numbers are
        predicted, the share of variance explained (0 if negative), averaged over
        factors; its ``details`` have the same for the training rows. ``details`` of
        disentanglement have the value of each latent.

    Raises:
        ValueError: If the variant is unknown, a given split has no rows with a known
            label for some factor, or the input is not as above.

    Example:
        >>> factors = np.stack(np.divmod(np.arange(900) % 100, 10), axis=1)
        >>> one_latent_each = factors.astype(float)
        >>> scores = dci(one_latent_each, factors)
        >>> round(scores.disentanglement, 3), round(scores.completeness, 3)
        (1.0, 1.0)
        >>> rotated = one_latent_each @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> dci(rotated, factors).disentanglement < 0.1
        True

    References:
        Eastwood and Williams (2018), A Framework for the Quantitative Evaluation of
        Disentangled Representations, Section 2.
        https://openreview.net/forum?id=By-7dz-AZ
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, for the boosted trees.
        https://arxiv.org/abs/1811.12359
    """
    codes, factors = read_inputs("dci", codes, factors)
    check_option("dci: variant", variant, Variant)
    check_count("dci: n_train", n_train)
    check_count("dci: n_test", n_test)
    splits = [
        labeled_rows("dci", split, factors, k)
        if split
        else _random_split(factors.known[:, k], n_train, n_test, seed)
        for k in range(factors.n_factors)
    ]
    fits = _fit_all(variant, codes, factors, splits, seed)
    return _scores(fits, factors.names, variant=variant, seed=seed)


def disentanglement_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    variant: Variant = "fast",
    seed: int = 0,
) -> Score:
    """Disentanglement alone; see :func:`dci`, which returns all three scores."""
    return dci(codes, factors, variant=variant, seed=seed).disentanglement


def completeness_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    variant: Variant = "fast",
    seed: int = 0,
) -> Score:
    """Completeness alone; see :func:`dci`, which returns all three scores."""
    return dci(codes, factors, variant=variant, seed=seed).completeness


def informativeness_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    variant: Variant = "fast",
    seed: int = 0,
) -> Score:
    """Informativeness alone; see :func:`dci`, which returns all three scores."""
    return dci(codes, factors, variant=variant, seed=seed).informativeness


def _scores(
    fits: Sequence[Fit], names: Sequence[str], *, variant: Variant, seed: int
) -> DCI:
    importance = np.stack([fit.importance for fit in fits], axis=1)
    common = {"variant": variant, "matrix": importance, "seed": seed}
    per_latent, disentanglement = _weighted(importance)
    per_factor, completeness = _weighted(importance.T)
    train_quality = [fit.train_quality for fit in fits]
    test_quality = [fit.test_quality for fit in fits]
    return DCI(
        disentanglement=Score(
            disentanglement,
            name="dci_disentanglement",
            details={f"latent_{j}": value for j, value in enumerate(per_latent)},
            note="one factor: always 1" if len(names) == 1 else "",
            **common,
        ),
        completeness=Score(
            completeness,
            name="dci_completeness",
            per_factor=dict(zip(names, per_factor, strict=True)),
            note="one latent: always 1" if len(importance) == 1 else "",
            **common,
        ),
        informativeness=Score(
            fmean(test_quality),
            name="dci_informativeness",
            per_factor=dict(zip(names, test_quality, strict=True)),
            details={"train": fmean(train_quality)},
            **common,
        ),
    )


def _random_split(
    known: NDArray[np.bool_], n_train: int, n_test: int, seed: int
) -> Split:
    """Draw random rows among the known ones, the same for all complete factors."""
    rows = np.flatnonzero(known)
    generator = numpy_generator(seed, "dci", "rows")
    part = split_rows(len(rows), n_train=n_train, n_test=n_test, generator=generator)
    return Split(rows[part.train], rows[part.test])


def _fit_all(
    variant: Variant,
    codes: NDArray[np.float64],
    factors: Factors,
    splits: Sequence[Split],
    seed: int,
) -> list[Fit]:
    def fit(k: int, split: Split) -> Fit:
        kind = factors.kinds[k]
        table = factors.values if kind == "continuous" else factors.labels
        train, test = (
            Sample(codes[rows], table[rows, k]) for rows in (split.train, split.test)
        )
        return fit_predictor(variant, train, test, kind, seed=seed)

    # Learning releases Python's lock, so there is one thread per factor. Factors with
    # most classes take longest and start first.
    order = np.argsort(factors.sizes)[::-1]
    with _settings_of(variant), ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {k: pool.submit(fit, k, splits[k]) for k in order}
        return [jobs[k].result() for k in range(factors.n_factors)]


@contextlib.contextmanager
def _settings_of(variant: Variant) -> Iterator[None]:
    """Set what belongs to the whole process, so that threads need not."""
    if variant != "logistic":
        yield
        return
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # the solver stops early, as the published one
        yield


def _weighted(importance: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return one minus the entropy of each row, and its mean weighted by row sums."""
    n_columns = importance.shape[1]
    shares = importance + _FLOOR
    shares /= shares.sum(axis=1, keepdims=True)
    entropies = -(shares * np.log(shares)).sum(axis=1) / np.log(max(n_columns, 2))
    per_row = 1.0 - entropies
    weights = importance.sum(axis=1) if importance.any() else np.ones(len(importance))
    return per_row, float((per_row * weights).sum() / weights.sum())
