"""Directions of scores by their names in tables."""

from ._catalog import METRICS


def is_higher_better(score: str) -> bool:
    """Return whether higher values of a score are better.

    Args:
        score: Name of a score, such as ``"dci_completeness"`` or ``"mig[bins=10]"``. A
            score of a metric that is not in the catalog is better when it is higher.

    Example:
        >>> is_higher_better("mig[bins=10]"), is_higher_better("unfairness")
        (True, False)
    """
    name = score.partition("[")[0]
    if name in METRICS:
        return METRICS[name].higher_is_better
    # The names of other scores begin with those of their metrics.
    begins = [known for known in METRICS if name.startswith(f"{known}_")]
    return METRICS[max(begins, key=len)].higher_is_better if begins else True
