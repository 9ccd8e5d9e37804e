"""Table of the expected disentanglement of each factor."""

import pandas as pd

from unbraid.data import AbstractDataset
from unbraid.models import Autoencoder
from unbraid.perception import disentanglement_verdicts, perceived_distances

from ._loss_names import describe_loss
from ._page import Table
from ._scores_table import number

_PAIRS = 2_000


def verdict_table(dataset: AbstractDataset, model: Autoencoder) -> Table | None:
    """Return the expected disentanglement of each factor, with reasons.

    Args:
        dataset: Training data of the model.
        model: Trained model. Images are compared by the loss it was trained with.

    Returns:
        Table; ``None`` if no factors are known.
    """
    if not dataset.factor_names:
        return None
    found = perceived_distances(dataset, model, n_pairs=_PAIRS)
    rows = tuple(
        (
            row.factor,
            verdict.expectation,
            number(row.mean, 4),
            number(row.rank, 2),
            verdict.reason,
        )
        for row, verdict in zip(
            found.factors, disentanglement_verdicts(found), strict=True
        )
    )
    columns = ("factor", "expectation", "distance", "rank correlation", "reason")
    return Table(
        title="Will a VAE disentangle this?",
        columns=columns,
        rows=rows,
        caption="A rule of thumb that depends only on the images and the loss "
        f"({describe_loss(model.likelihood)}), not on training. Distance: mean "
        "distance of images that differ in one factor. Rank correlation: how well "
        f"distances follow the factor, over {_PAIRS:,} pairs.",
        data=pd.DataFrame(list(rows), columns=list(columns)),
        file="verdicts.csv",
    )
