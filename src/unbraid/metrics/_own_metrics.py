"""Metrics given as functions or objects instead of names."""

import functools
import inspect
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from ._catalog import METRICS, Metric, choose_metrics
from ._score import Score

Wanted = str | Metric | Callable[..., Any] | Sequence[str | Metric | Callable[..., Any]]
"""A suite, names, metrics or functions."""

_SECONDS = 1.0
"""Assumed cost of a function whose cost is not known."""


def resolve_metrics(wanted: Wanted, *, have_factors: bool) -> dict[str, Metric]:
    """Return metrics by name, from names, :class:`Metric` objects and functions.

    Args:
        wanted: Metrics as for :func:`choose_metrics`, or a :class:`Metric`, or a
            function, which takes codes, and factors if it has a second argument, and
            returns a number or a :class:`Score`; or a list of these.
        have_factors: Whether there are factors. Without them, ``"standard"`` and
            ``"all"`` are the metrics that need none.

    Raises:
        ValueError: If a name is unknown or used twice, or if a metric needs factors
            that are not there.

    Example:
        >>> def spread(codes):
        ...     return codes.std()
        >>> list(resolve_metrics(["mig", spread], have_factors=True))
        ['mig', 'spread']
    """
    if isinstance(wanted, str):
        names = choose_metrics(wanted, have_factors=have_factors)
        return {name: METRICS[name] for name in names}
    entries = [wanted] if isinstance(wanted, Metric) or callable(wanted) else wanted
    texts = [entry for entry in entries if isinstance(entry, str)]
    if len(texts) == len(entries):
        names = choose_metrics(texts, have_factors=have_factors)
        return {name: METRICS[name] for name in names}
    metrics: dict[str, Metric] = {}
    for entry in entries:
        if isinstance(entry, str):
            new = resolve_metrics(entry, have_factors=have_factors)
        else:
            new = _own_metric(entry, have_factors)
        for name in set(new) & set(metrics):
            if new[name] != metrics[name]:
                raise ValueError(f"evaluate: two metrics have the name {name!r}.")
        metrics |= new
    return metrics


def _own_metric(entry: Any, have_factors: bool) -> dict[str, Metric]:
    for name, metric in METRICS.built_in.items():
        if entry is metric.function or entry == metric:
            return resolve_metrics(name, have_factors=have_factors)
    if not isinstance(entry, Metric):
        entry = _from_function(entry)
    if entry.name in METRICS:
        raise ValueError(
            f"evaluate: {entry.name!r} is the name of a known metric. Give your "
            "function another name."
        )
    if entry.uses_factors and not have_factors:
        raise ValueError(
            f"evaluate: the metric {entry.name!r} needs factors, but there are none."
        )
    return {entry.name: entry}


def _from_function(function: Any) -> Metric:
    if not callable(function):
        raise ValueError(
            "evaluate: a metric must be a name, a function or a Metric object, got "
            f"{function!r}."
        )
    needed = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.name != "seed"
    ]

    @functools.wraps(function)
    def score(*given: Any, **options: Any) -> Any:
        result = function(*given, **options)
        if isinstance(result, Real) and not isinstance(result, Score):
            return Score(float(result), name=score.__name__)
        return result

    score.__name__ = getattr(function, "__name__", type(function).__name__)
    return Metric(score, _SECONDS, uses_factors=len(needed) > 1)
