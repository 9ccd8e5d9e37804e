"""MIG of encoders that are not trained."""

import numpy as np

from unbraid import encode, evaluate
from unbraid.data import AbstractDataset
from unbraid.foundation import numpy_generator
from unbraid.models import Bernoulli, build_model
from unbraid.models.networks import Dense
from unbraid.representation import Encoder


def gap_of(encoder: Encoder, data: AbstractDataset, *, n_rows: int) -> float:
    """Return the MIG of an encoder on random images of a dataset."""
    rows = numpy_generator(0, "frozen encoders").permutation(len(data))[:n_rows]
    codes = encode(encoder, data, rows=np.sort(rows), batch_size=64, progress=False)
    card = evaluate(codes, metrics="mig", intervals=False, levels=False, progress=False)
    return float(card["mig"])


def untrained_gap(
    data: AbstractDataset, width: int, *, n_latents: int, seed: int, n_rows: int
) -> float:
    """Return the MIG of a randomly initialized dense encoder."""
    model = build_model(
        Dense(widths=(width, width)),
        image_shape=data.image_shape,
        n_latents=n_latents,
        likelihood=Bernoulli(),
        seed=seed,
    )
    return gap_of(model, data, n_rows=n_rows)
