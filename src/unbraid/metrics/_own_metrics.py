"""Metrics given as functions or objects instead of names."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._catalog import METRICS
from ._choose_metrics import Entry, find_metrics, split_entries
from ._metric import Metric
from ._own_functions import FUNCTION_SECONDS, OwnFunction, takes_factors

Own = Metric | Callable[..., Any]
Wanted = Entry | Own | Sequence[Entry | Own]
"""A suite, names, mappings of names and options, metrics or functions."""


def resolve_metrics(wanted: Wanted, *, have_factors: bool) -> dict[str, Metric]:
    """Return metrics by name, from names, :class:`Metric` objects and functions.

    The name of a metric with options is that of its column: ``mig[bins=10]``.

    Args:
        wanted: Metrics as for :func:`choose_metrics`, or a :class:`Metric`, or a
            function, which takes codes, and factors if it has a second argument, and
            returns a number or a :class:`Score`; or a list of these.
        have_factors: Whether there are factors. Without them, ``"standard"`` and
            ``"all"`` are the metrics that need none.

    Raises:
        ValueError: If a name or option is unknown, if a name is used twice, or if a
            metric needs factors that are not there.

    Example:
        >>> def spread(codes):
        ...     return codes.std()
        >>> list(resolve_metrics(["mig:bins=10", spread], have_factors=True))
        ['mig[bins=10]', 'spread']
    """
    entries: Sequence[Entry | Own]
    if isinstance(wanted, str):
        entries = split_entries(wanted)
    elif isinstance(wanted, Metric | Mapping) or callable(wanted):
        entries = [wanted]
    else:
        entries = wanted
    metrics: dict[str, Metric] = {}
    for entry in entries:
        if isinstance(entry, str | Mapping):
            chosen = find_metrics([entry], have_factors=have_factors)
            new = {each.label: each.metric for each in chosen}
        else:
            new = _own_metric(entry, have_factors)
        for name in set(new) & set(metrics):
            if new[name] != metrics[name]:
                raise ValueError(f"evaluate: two metrics have the name {name!r}.")
        metrics |= new
    if not metrics:
        raise ValueError("evaluate: metrics must name at least one metric.")
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
    return Metric(
        OwnFunction(function), FUNCTION_SECONDS, uses_factors=takes_factors(function)
    )
