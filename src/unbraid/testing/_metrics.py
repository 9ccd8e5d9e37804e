"""check_metric: the conformance suite of metrics."""

import math
import pickle
import warnings
from collections.abc import Collection
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator
from unbraid.metrics import Factors, Metric, Score

Change = Literal["order", "sign", "scale"]

_SIZES = (4, 3, 2)
_CLOSE = 1e-6


def check_metric(
    metric: Metric,
    *,
    ideal: float | None = None,
    blind_to: Collection[Change] = (),
    beats_chance: bool = True,
) -> None:
    """Check that a metric has the properties that :func:`unbraid.evaluate` relies on.

    Small tables of codes and factors are scored: noisy, ideal, shuffled, unusual and
    malformed ones.

    Args:
        metric: Metric to check.
        ideal: Score of a perfect representation, if it is known: one latent for each
            factor, and nothing else. Without factors, these are independent latents.
        blind_to: Changes that must not change the score: the order of the latents,
            their signs, or a scale common to all of them.
        beats_chance: Require that a perfect representation scores better than one with
            shuffled rows, in at least one score, and worse in none. Not checked for
            metrics without factors.

    Raises:
        AssertionError: If a property is violated; the message says which.

    Example:
        >>> from unbraid.metrics import METRICS
        >>> check_metric(METRICS["mig"], ideal=1.0, blind_to=("order", "sign", "scale"))
    """
    trial = _Trial(metric)
    values = np.indices(_SIZES).reshape(len(_SIZES), -1).T
    values = np.concatenate([values, values])
    perfect = (values - values.mean(axis=0)) / values.std(axis=0)
    generator = numpy_generator(0, "check_metric")
    noise = generator.standard_normal((len(values), len(_SIZES) + 1))
    codes = np.column_stack([perfect, np.zeros(len(values))]) + 0.3 * noise
    _check_scores(trial, codes, values)
    _check_repetition(trial, codes, values)
    _check_rows(trial, codes, values, generator)
    _check_blindness(trial, codes, values, blind_to)
    _check_levels(trial, perfect, values, generator, ideal, beats_chance)
    _check_odd_tables(trial, codes, values)
    _check_refusals(trial, codes, values)


class _Trial:
    """A metric that is called as users do, where warnings are errors."""

    def __init__(self, metric: Metric) -> None:
        _require(
            isinstance(metric, Metric), "a metric must be a Metric of unbraid.metrics"
        )
        _require(metric.seconds > 0, "seconds of a metric must be positive")
        self.metric = metric

    def scores(self, codes: Any, factors: Any, seed: int = 0) -> tuple[Score, ...]:
        """Return all scores of a table."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                inputs = _make_inputs(codes, factors) if self.metric.inputs else None
                return self.metric.scores(codes, factors, seed, inputs)
            except Warning as warning:
                raise AssertionError(
                    f"check_metric: the metric must not warn, but it did: {warning!r}."
                ) from warning


def _make_inputs(codes: Any, factors: Any) -> dict[Any, Any]:
    """Make narrow posteriors, and observations that are the factors themselves."""
    values = factors.values if isinstance(factors, Factors) else np.asarray(factors)
    values = np.nan_to_num(values.astype(np.float64))

    def distance(first: NDArray, second: NDArray) -> NDArray:
        return np.abs(values[first] - values[second]).sum(axis=1)

    return {"log_variances": np.full(np.shape(codes), -3.0), "distance": distance}


def _check_scores(trial: _Trial, codes: NDArray, values: NDArray) -> None:
    factors = Factors(values, names=("a", "b", "c"))
    given, known = codes.copy(), factors.values.copy()
    try:
        scores = trial.scores(given, factors)
    except ValueError as error:
        raise AssertionError(
            f"check_metric: the metric has no score of a valid table: {error}"
        ) from error
    is_same = np.array_equal(given, codes) and np.array_equal(known, factors.values)
    _require(is_same, "codes and factors must not be changed")
    names = [score.name for score in scores]
    _require(
        all(names) and len(set(names)) == len(names),
        "scores must have names, all different",
    )
    for score in scores:
        _require(math.isfinite(score), f"{score.name} of a valid table must be finite")
        _require(
            set(score.per_factor) <= set(factors.names),
            f"per_factor of {score.name} must have the names of factors",
        )
        if score.matrix is not None:
            n_latents = codes.shape[1]
            n_columns = factors.n_factors if trial.metric.uses_factors else n_latents
            _require(
                score.matrix.shape == (n_latents, n_columns),
                f"the matrix of {score.name} must have a row for each latent, and a "
                "column for each factor, or for each latent if there are no factors",
            )
        again = pickle.loads(pickle.dumps(score))
        _require(
            float(again) == float(score) and again.name == score.name,
            f"{score.name} must be the same after pickling",
        )


def _check_repetition(trial: _Trial, codes: NDArray, values: NDArray) -> None:
    torch_state = torch.get_rng_state()
    first = trial.scores(codes, values, seed=3)
    _require_close(first, trial.scores(codes, values, seed=3), "the same seed", 0.0)
    _require(
        torch.equal(torch_state, torch.get_rng_state()),
        "torch's global generator must not be used",
    )


def _check_rows(
    trial: _Trial, codes: NDArray, values: NDArray, generator: np.random.Generator
) -> None:
    """Check scores of parts of the table, from which intervals are estimated."""
    scores = trial.scores(codes, values)
    order = generator.permutation(len(codes))
    if trial.metric.rows == "all":
        shuffled = trial.scores(codes[order], values[order])
        _require_close(scores, shuffled, "another order of rows")
    part_rows = order[: 2 * len(order) // 3]
    if trial.metric.rows == "traversals":
        # Without one value of the first factor, all traversals are still complete.
        part_rows = np.flatnonzero(values[:, 0] > 0)
    part = trial.scores(codes[part_rows], values[part_rows])
    _require(
        [score.name for score in part] == [score.name for score in scores],
        "every table must have the same scores in the same order",
    )


def _check_blindness(
    trial: _Trial, codes: NDArray, values: NDArray, blind_to: Collection[Change]
) -> None:
    signs = np.where(np.arange(codes.shape[1]) % 2, -1.0, 1.0)
    changed = {"order": codes[:, ::-1], "sign": codes * signs, "scale": codes * 8.0}
    scores = trial.scores(codes, values)
    for change in blind_to:
        other = trial.scores(changed[change].copy(), values)
        _require_close(scores, other, f"another {change} of latents")


def _check_levels(
    trial: _Trial,
    perfect: NDArray,
    values: NDArray,
    generator: np.random.Generator,
    ideal: float | None,
    beats_chance: bool,
) -> None:
    scores = trial.scores(perfect, values)
    for score in scores:
        _require(
            ideal is None or abs(score - ideal) <= _CLOSE,
            f"{score.name} of a perfect representation must be {ideal}, got {score}",
        )
    if not trial.metric.uses_factors or not beats_chance:
        return
    sign = 1.0 if trial.metric.higher_is_better else -1.0
    chance = trial.scores(perfect[generator.permutation(len(perfect))], values)
    gains = [sign * (best - other) for best, other in zip(scores, chance, strict=True)]
    _require(
        min(gains) >= -_CLOSE and max(gains) > _CLOSE,
        "a perfect representation must score better than a shuffled one",
    )


def _check_odd_tables(trial: _Trial, codes: NDArray, values: NDArray) -> None:
    """Check that unusual tables have a finite score, a note, or a clear error."""
    partly_labeled = values.astype(np.float64)
    partly_labeled[::7, 1] = np.nan
    continuous = values + np.linspace(0, 0.5, len(values))[:, None]
    dead = codes.copy()
    dead[:, 1] = 1.0
    odd = {
        "a missing label": (codes, partly_labeled),
        "continuous factors": (codes, continuous),
        "a constant latent": (dead, values),
        "a single latent": (codes[:, :1], values),
        "a single factor": (codes, values[:, :1]),
    }
    for name, table in odd.items():
        try:
            scores = trial.scores(*table)
        except ValueError as error:
            _require_sentence(error, name)
            continue
        for score in scores:
            _require(
                math.isfinite(score) or bool(score.note),
                f"{score.name} of a table with {name} must be finite or have a note",
            )


def _check_refusals(trial: _Trial, codes: NDArray, values: NDArray) -> None:
    wrong_number, infinity = codes.copy(), codes.copy()
    wrong_number[1, 1], infinity[1, 1] = np.nan, np.inf
    wrong = {
        "NaN": (wrong_number, values),
        "infinity": (infinity, values),
        "one row": (codes[:1], values[:1]),
        "three axes": (codes[:, :, None], values),
        "text": (codes.astype(str), values),
    }
    if trial.metric.uses_factors:
        wrong["other rows"] = (codes, values[1:])
        wrong["a constant factor"] = (codes, np.zeros((len(codes), 1)))
    for name, table in wrong.items():
        try:
            trial.scores(*table)
        except ValueError as error:
            _require_sentence(error, name)
            continue
        raise AssertionError(f"check_metric: {name} must raise ValueError.")


def _require_sentence(error: ValueError, name: str) -> None:
    message = str(error)
    _require(
        message.endswith(".") and "\n" not in message,
        f"{name} must raise an error of one sentence, got {message!r}",
    )


def _require_close(
    one: tuple[Score, ...],
    other: tuple[Score, ...],
    change: str,
    within: float = _CLOSE,
) -> None:
    for score, again in zip(one, other, strict=True):
        _require(
            abs(score - again) <= within,
            f"{change} must give the same {score.name}, got {score} and {again}",
        )


def _require(is_true: bool, requirement: str) -> None:
    if not is_true:
        raise AssertionError(f"check_metric: {requirement}.")
