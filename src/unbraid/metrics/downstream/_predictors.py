"""Predictors that learn one factor from codes, and how well they do.

Two kinds, each in two variants. ``"dlib"`` is what disentanglement_lib uses, with
scikit-learn's defaults; ``"fast"`` gives the same scores up to noise in a fraction of
the time. All run on one thread, so that scores do not depend on the machine and many
can be made side by side.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from unbraid.metrics._inputs import Factors
from unbraid.metrics._splits import Split, split_rows

from ._boosting import fit_classifier, fit_regressor

PredictorName = Literal["logistic", "boosting"]
Variant = Literal["fast", "dlib"]

N_FOLDS = 5
INVERSE_PENALTIES = np.logspace(-4, 4, 10)

# Above this many rows one fold is enough to choose a penalty in the fast variant.
_ALL_FOLDS_UP_TO = 1000


@dataclass(frozen=True)
class Fitted:
    """A predictor that has learned.

    Attributes:
        predict: From codes ``(n, n_latents)`` to class numbers or values ``(n,)``.
        importance: How much it uses each latent, ``(n_latents,)``, summing to 1 (or all
            zero if it uses none); ``None`` for predictors that do not tell.
    """

    predict: Callable[[NDArray[np.floating]], Any]
    importance: NDArray[np.float64] | None = None


@dataclass(frozen=True, kw_only=True)
class Learner:
    """How one factor is learned from codes, and how well that went.

    A continuous factor is predicted by the counterpart for numbers: ridge regression
    for ``"logistic"``, boosted regression trees for ``"boosting"``. Where nothing can
    be learned (one class only, or no latents) the most frequent class, or the mean, is
    predicted.

    Attributes:
        predictor: ``"logistic"``: penalised logistic regression, the penalty chosen by
            accuracy in five folds. ``"boosting"``: 100 trees of depth 3 per class.
        variant: ``"dlib"``: ``LogisticRegressionCV(Cs=10, cv=KFold(5))`` and
            ``GradientBoostingClassifier()`` of scikit-learn. ``"fast"``: one fold
            instead of five on more than 1,000 rows, and the same trees found with
            LightGBM's histograms.
        seed: For ties between splits in scikit-learn's trees; nothing else is random.
    """

    predictor: PredictorName = "boosting"
    variant: Variant = "fast"
    seed: int = 0

    def fit(self, codes: NDArray[np.floating], factors: Factors, factor: int) -> Fitted:
        """Learn a factor, known in all these rows, from the codes of the rows."""
        target, is_continuous = _target(factors, factor)
        if codes.shape[1] == 0 or (target == target[0]).all():
            return _constant(target, codes.shape[1], is_continuous)
        with warnings.catch_warnings(), threadpool_limits(1):
            # Defaults of scikit-learn that are announced to change, and solvers that
            # stop at their limit of steps: both are part of what is reproduced here.
            warnings.simplefilter("ignore")
            if self.predictor == "logistic":
                if is_continuous:
                    return _ridge(codes, target)
                return _logistic(codes, target, is_fast=self.variant == "fast")
            if self.variant == "dlib":
                return _boosting(codes, target, is_continuous, self.seed)
            return _fast_boosting(codes, target, is_continuous)

    def score(
        self,
        fitted: Fitted,
        codes: NDArray[np.floating],
        factors: Factors,
        factor: int,
    ) -> float:
        """Accuracy, or the explained variance (R squared, from 0) if continuous."""
        target, is_continuous = _target(factors, factor)
        with threadpool_limits(1):
            predicted = fitted.predict(codes)
        if not is_continuous:
            return float(np.mean(predicted == target))
        spread = np.sum((target - target.mean()) ** 2)
        missed = np.sum((target - predicted) ** 2)
        # Worse than the mean is as useless as the mean; no spread, nothing to explain.
        return float(max(0.0, 1.0 - missed / spread)) if spread > 0 else 0.0

    def fit_and_score(
        self, codes: NDArray[np.floating], factors: Factors, factor: int, split: Split
    ) -> float:
        """Learn a factor from some rows of a table and score it on others."""
        fitted = self.fit(codes[split.train], factors.at(split.train), factor)
        return self.score(fitted, codes[split.test], factors.at(split.test), factor)


def read_learner(who: str, predictor: str, variant: str, seed: int) -> Learner:
    """A learner from what a caller asked for, or a clear error."""
    for name, options in ((predictor, PredictorName), (variant, Variant)):
        if name not in get_args(options):
            raise ValueError(
                f"{who}: expected one of {', '.join(get_args(options))}, got {name!r}."
            )
    return Learner(
        predictor="logistic" if predictor == "logistic" else "boosting",
        variant="fast" if variant == "fast" else "dlib",
        seed=seed,
    )


def read_count(who: str, name: str, value: int, least: int = 1) -> int:
    """A whole number of at least ``least``, or a clear error."""
    if value != int(value) or value < least:
        raise ValueError(
            f"{who}: expected {name} to be a whole number from {least}, got {value}."
        )
    return int(value)


def split_known(
    factors: Factors,
    factor: int,
    *,
    n_train: int,
    n_test: int,
    generator: np.random.Generator,
) -> Split:
    """Disjoint random rows in which a factor is known.

    Where there are not enough, test rows give way until a third of all is left to them,
    then training rows do.
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


def _constant(target: NDArray, n_latents: int, is_continuous: bool) -> Fitted:
    value = target.mean() if is_continuous else np.bincount(target).argmax()
    return Fitted(
        lambda codes: np.full(len(codes), value, dtype=np.float64),
        np.zeros(n_latents),
    )


def _logistic(
    codes: NDArray[np.floating], labels: NDArray[np.integer], *, is_fast: bool
) -> Fitted:
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.model_selection import GridSearchCV, KFold

    folds = list(KFold(min(N_FOLDS, len(labels))).split(codes))
    if is_fast and len(labels) > _ALL_FOLDS_UP_TO:
        folds = folds[:1]
    n_classes = len(np.unique(labels))
    n_seen = [len(np.unique(labels[train])) for train, _ in folds]
    # A fold with a single class cannot be fitted and says nothing about the penalty.
    folds = [fold for fold, n in zip(folds, n_seen, strict=True) if n > 1]
    if min(n_seen) == n_classes:
        model = LogisticRegressionCV(Cs=10, cv=folds, scoring="accuracy")
    elif folds:
        # LogisticRegressionCV of many releases fails if a fold lacks a class; this is
        # the same search, one model at a time.
        model = GridSearchCV(
            LogisticRegression(), {"C": INVERSE_PENALTIES}, cv=folds, scoring="accuracy"
        )
    else:
        model = LogisticRegression()
    return Fitted(model.fit(codes, labels).predict)


def _ridge(codes: NDArray[np.floating], values: NDArray[np.floating]) -> Fitted:
    from sklearn.linear_model import RidgeCV

    return Fitted(RidgeCV(1.0 / INVERSE_PENALTIES).fit(codes, values).predict)


def _boosting(
    codes: NDArray[np.floating], target: NDArray, is_continuous: bool, seed: int
) -> Fitted:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingRegressor if is_continuous else GradientBoostingClassifier
    model = kind(random_state=seed % 2**32).fit(codes, target)
    return Fitted(model.predict, np.asarray(model.feature_importances_))


def _fast_boosting(
    codes: NDArray[np.floating], target: NDArray, is_continuous: bool
) -> Fitted:
    fit = fit_regressor if is_continuous else fit_classifier
    predict, gains = fit(codes, target)
    return Fitted(predict, gains / gains.sum() if gains.sum() > 0 else gains)
