"""Predictors of one factor from codes, and their accuracy.

There are two kinds, each in two variants. ``"dlib"`` is that of disentanglement_lib,
with scikit-learn's defaults; ``"fast"`` gives the same scores up to noise in a fraction
of the time. All run on one thread, so that scores do not depend on the machine and many
can be computed in parallel.
"""

import functools
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from unbraid.foundation import check_option
from unbraid.metrics._boosting import PUBLISHED, QUICK
from unbraid.metrics._inputs import Factors
from unbraid.metrics._linear_predictors import MANY_ROWS, fit_logistic, fit_ridge
from unbraid.metrics._predictors import (
    accuracy,
    explained_variance,
    predict_boosted,
    predict_boosted_by_sklearn,
)
from unbraid.metrics._splits import Split, split_rows

PredictorName = Literal["logistic", "boosting"]
Variant = Literal["fast", "dlib"]


@dataclass(frozen=True)
class Fitted:
    """Predictions for new rows.

    Attributes:
        predicted: Class numbers, or values of a continuous factor, ``(n_new,)``.
        importance: Importance of each latent, ``(n_latents,)``, summing to 1 (or all
            zero if none is used); ``None`` for predictors without importances.
    """

    predicted: NDArray[Any]
    importance: NDArray[np.float64] | None = None


@dataclass(frozen=True, kw_only=True)
class Learner:
    """Predictor of one factor from codes.

    A continuous factor is predicted by the counterpart for numbers: ridge regression
    for ``"logistic"``, boosted regression trees for ``"boosting"``. Where nothing can
    be learned (one class only, or no latents) the most frequent class, or the mean, is
    predicted.

    Attributes:
        predictor: ``"logistic"``: penalized logistic regression, the penalty chosen by
            accuracy in five folds. ``"boosting"``: 100 trees of depth 3 per class.
        variant: ``"dlib"``: ``LogisticRegressionCV(Cs=10, cv=KFold(5))`` and
            ``GradientBoostingClassifier()`` of scikit-learn. ``"fast"``: one fold
            and 30 rounds of boosting (as in :func:`unbraid.metrics.dci`) on more than
            1,000 rows, where that is enough; the published numbers of them below.
        seed: Seed for ties between splits in scikit-learn's trees; nothing else is
            random.
    """

    predictor: PredictorName = "boosting"
    variant: Variant = "fast"
    seed: int = 0

    def fit(
        self,
        codes: NDArray[np.float64],
        factors: Factors,
        factor: int,
        new: NDArray[np.float64],
    ) -> Fitted:
        """Learn a factor, known in all these rows, and predict it for new codes."""
        target, is_continuous = _target(factors, factor)
        used = np.ptp(codes, axis=0) > 0
        if not used.any() or (target == target[0]).all():
            return _constant(target, codes.shape[1], len(new), is_continuous)
        with warnings.catch_warnings(), threadpool_limits(1):
            # Warnings about scikit-learn defaults that will change, and about solvers
            # that stop early: both are part of the published protocol.
            warnings.simplefilter("ignore")
            if self.predictor == "logistic":
                if is_continuous:
                    return Fitted(fit_ridge(codes, target).predict(new))
                model = fit_logistic(codes, target, is_fast=self.variant == "fast")
                return Fitted(model.predict(new))
            boosting = predict_boosted_by_sklearn
            if self.variant == "fast":
                growth = PUBLISHED if len(codes) <= MANY_ROWS else QUICK
                boosting = functools.partial(predict_boosted, growth=growth)
            rows = np.concatenate([codes, new])[:, used]
            importance = np.zeros(codes.shape[1])
            importance[used], predicted = boosting(
                rows, target, is_continuous, self.seed
            )
        return Fitted(predicted[len(codes) :], importance)

    def score(self, fitted: Fitted, factors: Factors, factor: int) -> float:
        """Return the accuracy, or the explained variance of a continuous factor."""
        target, is_continuous = _target(factors, factor)
        quality = explained_variance if is_continuous else accuracy
        return quality(target, fitted.predicted)

    def fit_and_score(
        self, codes: NDArray[np.float64], factors: Factors, factor: int, split: Split
    ) -> float:
        """Learn a factor from some rows of a table and score it on others."""
        train, test = split.train, split.test
        fitted = self.fit(codes[train], factors.at(train), factor, codes[test])
        return self.score(fitted, factors.at(test), factor)


def read_learner(caller: str, predictor: str, variant: str, seed: int) -> Learner:
    """Return a learner, after checking the names of its predictor and variant."""
    check_option(f"{caller}: predictor", predictor, PredictorName)
    check_option(f"{caller}: variant", variant, Variant)
    return Learner(
        predictor="logistic" if predictor == "logistic" else "boosting",
        variant="fast" if variant == "fast" else "dlib",
        seed=seed,
    )


def split_known(
    factors: Factors,
    factor: int,
    *,
    n_train: int,
    n_test: int,
    generator: np.random.Generator,
) -> Split:
    """Draw disjoint random rows in which a factor is known.

    If there are not enough, there are fewer test rows, down to a third of all rows, and
    then fewer training rows.
    """
    known = np.flatnonzero(factors.known[:, factor])
    n_test = min(n_test, max(1, len(known) // 3, len(known) - n_train))
    n_train = min(n_train, len(known) - n_test)
    split = split_rows(len(known), n_train=n_train, n_test=n_test, generator=generator)
    return Split(known[split.train], known[split.test])


def _target(factors: Factors, factor: int) -> tuple[NDArray, bool]:
    is_continuous = factors.kinds[factor] == "continuous"
    table = factors.values if is_continuous else factors.labels
    return table[:, factor], is_continuous


def _constant(
    target: NDArray[Any], n_latents: int, n_new: int, is_continuous: bool
) -> Fitted:
    value = target.mean() if is_continuous else np.bincount(target).argmax()
    return Fitted(np.full(n_new, value), np.zeros(n_latents))
