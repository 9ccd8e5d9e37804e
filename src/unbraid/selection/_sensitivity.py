"""Sensitivity of the ranking by training dynamics to its settings."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import correlate, is_constant
from unbraid.training import Trace

from ._compared_training import AnyTrace
from ._training_dynamics import DynamicsScore, training_dynamics

if TYPE_CHECKING:
    import pandas as pd

VARIED: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "steps": (1, 2, 4, 8, 16, 32),
        "n_neighbors": (2, 5, 10, 20),
        "n_slice_neighbors": (2, 5, 10),
        "decay": (1.0, 2.0, 5.0),
        "n_components": (2, 5, 10, 20),
    }
)
"""Values of options of :func:`training_dynamics` that Holtz et al. leave open."""


def dynamics_sensitivity(
    configurations: Mapping[str, Sequence[AnyTrace]],
    *,
    reference: Mapping[str, float] | None = None,
    varied: Mapping[str, Sequence[Any]] = VARIED,
    usual: Mapping[str, Any] | None = None,
    map_over: Callable[..., Any] = map,
) -> "pd.DataFrame":
    """Change one option of the ranking by training dynamics at a time.

    Args:
        configurations: Traces of the seeds of each configuration, by name. If they have
            several layers, each layer is one of the values that are compared.
        reference: A score of each configuration, higher is better, such as its mean
            MIG.
        varied: Values of options of :func:`training_dynamics`.
        usual: Options that are not at their default in all comparisons.
        map_over: Function that computes the rows; the ``map`` of a process pool uses
            several cores.

    Returns:
        One row per option and value, the usual one of each option included, with the
        columns ``option``; ``value``; ``is_usual``; ``most_stable``, a configuration;
        ``agreement``, the rank correlation of the scores of all configurations with
        those of the usual options; ``separation``, the mean over configurations, which
        is near 1 where only runs are told apart; and with a ``reference``
        ``correlation``, its rank correlation with stability. Correlations are NaN if
        there are fewer than three configurations.

    Raises:
        ValueError: If there is no configuration, or an option is wrong.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> traces = generator.normal(size=(6, 4, 20, 5)).cumsum(axis=1)
        >>> table = dynamics_sensitivity(
        ...     {"a": traces[:2], "b": traces[2:4], "c": traces[4:]},
        ...     varied={"steps": (1, 2)})
        >>> table[["option", "value", "is_usual"]]
          option value  is_usual
        0  steps     1     False
        1  steps     2      True
    """
    import pandas as pd

    if not configurations:
        raise ValueError(
            "The sensitivity of training dynamics needs a configuration with traces of "
            "two seeds that have active latents."
        )
    usual = dict(usual or {})
    default = _usual_values(usual)
    rows = list(_rows(configurations, varied, default))
    measure = partial(_scores, configurations)
    tables = list(map_over(measure, [{**usual, **changed} for *_, changed in rows]))
    base = measure(usual)
    found = []
    for (option, value, _), scores in zip(rows, tables, strict=True):
        stability = {name: -each[0] for name, each in scores.items()}
        row = {
            "option": option,
            "value": str(value),
            "is_usual": value == default[option],
            "most_stable": max(stability, key=lambda name: stability[name]),
            "agreement": _rank_correlation(
                stability, {name: -each[0] for name, each in base.items()}
            ),
            "separation": float(np.mean([each[1] for each in scores.values()])),
        }
        if reference is not None:
            row["correlation"] = _rank_correlation(stability, reference)
        found.append(row)
    return pd.DataFrame(found)


def _usual_values(usual: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(training_dynamics).parameters.values()
    return {each.name: each.default for each in parameters} | {"layer": ""} | usual


def _rows(
    configurations: Mapping[str, Sequence[AnyTrace]],
    varied: Mapping[str, Sequence[Any]],
    default: dict[str, Any],
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield option, value and changed options; set the default layer."""
    for option, values in varied.items():
        for value in dict.fromkeys((*values, default[option])):
            yield option, value, {option: value}
    traces = [trace for seeds in configurations.values() for trace in seeds]
    layers = [trace.layers for trace in traces if isinstance(trace, Trace)]
    if layers and len(layers) == len(traces):
        common = [name for name in layers[0] if all(name in each for each in layers)]
        default["layer"] = default["layer"] or common[0]
        if len(common) > 1:
            for name in common:
                yield "layer", name, {"layer": name}


def _scores(
    configurations: Mapping[str, Sequence[AnyTrace]], options: Mapping[str, Any]
) -> dict[str, tuple[float, float]]:
    """Return score and separation of each configuration."""
    chosen = {name: value for name, value in options.items() if name != "layer"}
    layer = options.get("layer", "")
    found = {}
    for name, traces in configurations.items():
        seen = [
            trace.at(layer) if layer and isinstance(trace, Trace) else trace
            for trace in traces
        ]
        score: DynamicsScore = training_dynamics(seen, **chosen)
        found[name] = score.score, score.separation
    return found


def _rank_correlation(
    stability: Mapping[str, float], other: Mapping[str, float]
) -> float:
    names = [name for name in stability if np.isfinite(other.get(name, np.nan))]
    first: NDArray[np.float64] = np.array([stability[name] for name in names])
    second = np.array([other[name] for name in names])
    if len(names) < 3 or is_constant(first) or is_constant(second):
        return float("nan")
    return correlate(first, second, "spearman")
