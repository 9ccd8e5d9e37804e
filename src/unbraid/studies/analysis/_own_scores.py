"""Scores of metrics that are not built in, such as those in a file of the user."""

import pandas as pd

from unbraid.metrics import METRICS

from ._table import (
    DISENTANGLEMENT_METRICS,
    DOWNSTREAM_SCORES,
    UNSUPERVISED_SCORES,
    require_columns,
)

_BUILT_IN = {
    *DISENTANGLEMENT_METRICS,
    *DOWNSTREAM_SCORES,
    *UNSUPERVISED_SCORES,
    # A metric without any score has a column of its own name.
    *METRICS.built_in,
    *("clustering_sample_efficiency", "reduced_downstream_accuracy"),
    "strong_generalisation_accuracy",
}


def default_metrics(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the metrics that are analyzed when none are named.

    These are the disentanglement metrics, and every score in the table that is not
    built in: those of other packages, and of functions in files of the user.

    Args:
        table: One row per run, with columns ``score.<name>``.

    Example:
        >>> table = pd.DataFrame({"score.mig": [0.1], "score.mine": [0.5]})
        >>> [name for name in default_metrics(table) if f"score.{name}" in table]
        ['mig', 'mine']
    """
    require_columns("default_metrics", table, ())
    scores = [
        str(column).removeprefix("score.")
        for column in table.columns
        if str(column).startswith("score.") and table[column].notna().to_numpy().any()
    ]
    # The options of a metric follow its name in brackets.
    own = [name for name in scores if name.partition("[")[0] not in _BUILT_IN]
    return (*DISENTANGLEMENT_METRICS, *own)
