"""Metrics by name, with options: ``mig`` or ``mig:estimator=posterior``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from unbraid.foundation import (
    parse_options,
    resolve_file_names,
    split_items,
    suggest,
    write_options,
)

from ._catalog import METRICS
from ._metric import Metric

SUITES = ("standard", "all")

Entry = str | Mapping[str, Any]
"""A suite, or a metric as text, or a metric as a mapping with a name and options."""


class ChosenMetric(NamedTuple):
    """A metric of the catalog, by its name.

    Attributes:
        name: Name in the catalog.
        metric: The metric with its options.
    """

    name: str
    metric: Metric

    @property
    def text(self) -> str:
        """Text from which the metric can be read again: ``mig:bins=10``."""
        return write_options(self.name, self.metric.options)

    @property
    def label(self) -> str:
        """Name in tables: ``mig[bins=10]``."""
        return self.name + self.metric.suffix


def choose_metrics(wanted: Entry | Sequence[Entry], *, have_factors: bool) -> list[str]:
    """Return the names of metrics of the catalog, with options after a colon.

    Args:
        wanted: ``"standard"``, ``"all"``, or the name of a metric, with options after a
            colon; several of these, separated by commas or in a list; or a mapping with
            a ``name`` and options, or a list of mappings and names.
        have_factors: Whether there are factors. Without them, ``"standard"`` and
            ``"all"`` are the metrics that need none.

    Returns:
        Each metric once, in the requested order, its options in the order of the
        metric's arguments.

    Raises:
        ValueError: If a name or an option is unknown, or if a metric needs factors that
            are not there.

    Example:
        >>> wanted = ["sap", {"name": "mig", "estimator": "posterior"}]
        >>> choose_metrics(wanted, have_factors=True)
        ['sap', 'mig:estimator=posterior']
        >>> choose_metrics("dci:n_train=100,variant=logistic,mig", have_factors=True)
        ['dci:variant=logistic,n_train=100', 'mig']
    """
    chosen = find_metrics(wanted, have_factors=have_factors)
    return [each.text for each in chosen]


def find_metrics(
    wanted: Entry | Sequence[Entry], *, have_factors: bool
) -> list[ChosenMetric]:
    """Return metrics of the catalog; see :func:`choose_metrics`."""
    if isinstance(wanted, str):
        wanted = split_entries(wanted)
    entries = [wanted] if isinstance(wanted, Mapping) else wanted
    chosen = {
        each.text: each for entry in entries for each in _choose(entry, have_factors)
    }
    if not chosen:
        raise ValueError("evaluate: metrics must name at least one metric.")
    return list(chosen.values())


def split_entries(text: str) -> list[str]:
    """Split a text of several metrics at the commas between them.

    What follows a comma belongs to the options before it if it is one itself.

    Example:
        >>> split_entries("mig,downstream:predictor=logistic,sizes=[10,100],sap")
        ['mig', 'downstream:predictor=logistic,sizes=[10,100]', 'sap']
    """
    entries: list[str] = []
    for piece in split_items(text):
        head, equals, _ = piece.partition("=")
        if equals and ":" not in head and entries:
            entries[-1] += f",{piece}"
        else:
            entries.append(piece.strip())
    return entries


def _choose(entry: Entry, have_factors: bool) -> Iterator[ChosenMetric]:
    if isinstance(entry, str) and entry.strip() in SUITES:
        is_all = entry.strip() == "all"
        for name, metric in METRICS.items():
            is_part = metric.is_standard or is_all
            if is_part if have_factors else not metric.uses_factors:
                yield ChosenMetric(name, metric)
        return
    name, options = _read_entry(entry)
    metric = METRICS[name]
    if metric.uses_factors and not have_factors:
        raise ValueError(
            f"evaluate: the metric {name!r} needs factors, but there are none."
        )
    yield ChosenMetric(name, metric.with_options(name, options) if options else metric)


def _read_entry(entry: Entry) -> tuple[str, Mapping[str, Any]]:
    """Return the name of a metric and its options."""
    if isinstance(entry, Mapping):
        if not isinstance(entry.get("name"), str):
            raise ValueError(
                "evaluate: a metric with options needs its name, such as "
                f"{{'name': 'mig', 'bins': 10}}, got {dict(entry)!r}."
            )
        options = {str(key): value for key, value in entry.items() if key != "name"}
        return _require_name(entry["name"]), options
    if not isinstance(entry, str):
        raise ValueError(
            "evaluate: a metric must be a name, or a mapping with a name and options, "
            f"got {entry!r}."
        )
    entry = entry.strip()
    head, equals, _ = entry.partition("=")
    # A name may have a colon itself: mine.py:score:power=2.
    name = head.rpartition(":")[0] if equals else entry
    before = entry.partition(":")[0]
    if name not in METRICS and before in METRICS:
        name = before
    options = parse_options(name, entry[len(name) + 1 :])
    return _require_name(name or entry), options


def _require_name(name: str) -> str:
    if name not in METRICS:
        raise ValueError(
            f"evaluate: there is no metric {name!r}.{suggest(name, METRICS)} "
            f"Metrics are 'standard', 'all', {', '.join(METRICS)}."
        )
    return resolve_file_names(name)
