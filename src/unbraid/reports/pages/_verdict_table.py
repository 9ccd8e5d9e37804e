"""What distances in the data let one expect of each factor, as a table."""

import pandas as pd

from unbraid.data import AbstractDataset
from unbraid.models import Autoencoder
from unbraid.perception import disentanglement_verdicts, perceived_distances

from ._loss_names import describe_loss
from ._page import Table
from ._scores_table import number

_PAIRS = 2_000


def verdict_table(dataset: AbstractDataset, model: Autoencoder) -> Table | None:
    """What to expect of each factor before any training, and why.

    Args:
        dataset: Training data of the model.
        model: Trained model. Images are compared by the loss it was trained with.

    Returns:
        ``None`` if no factors are known.
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
    columns = ("factor", "to be expected", "distance", "rank correlation", "why")
    return Table(
        title="Will a VAE disentangle this?",
        columns=columns,
        rows=rows,
        words="From the images and the loss of this model alone, before any training: "
        "how far apart images look that differ in one factor, and how well that "
        f"follows the factor. The loss is {describe_loss(model.likelihood)}. A rule of "
        f"thumb, from {_PAIRS:,} pairs per factor.",
        data=pd.DataFrame(list(rows), columns=list(columns)),
        file="verdicts.csv",
    )
