"""What the latents of a trained model know of each factor."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unbraid.data import DataSpec, open_dataset
from unbraid.metrics import (
    Factors,
    bin_codes,
    factor_entropies,
    mutual_information_matrix,
)
from unbraid.representation import encode
from unbraid.training import load

from ._rows import random_rows

_N_BINS = 20
_MOST_ROWS = 20_000


def learned_factors(
    model: Path, data: DataSpec, *, in_nats: bool = False
) -> dict[str, float]:
    r"""Share of each factor that its best latent knows.

    .. math:: \max_j \frac{I(z_j; v_k)}{H(v_k)}

    Args:
        model: Folder of a run or model.
        data: What it was trained on, by name.
        in_nats: Do not divide by the entropy of the factor.

    Returns:
        From 0 (nothing) to 1 (everything) by the name of the factor, 0 for factors
        that have one value only.
    """
    dataset = open_dataset(data)
    rows = random_rows(len(dataset), _MOST_ROWS, "learned factors")
    found = encode(load(model), dataset, rows=rows, progress=False)
    assert found.factors is not None
    factors = Factors(found.factors, names=found.factor_names)
    known = mutual_information_matrix(bin_codes(found.codes, _N_BINS), factors)
    entropies = factor_entropies(factors)
    whole = np.where((entropies > 0) & (not in_nats), entropies, 1.0)
    shares = known.max(axis=0) / whole
    return dict(zip(factors.names, shares.tolist(), strict=True))


def followed_factors(
    model: Path, data: DataSpec, rows: NDArray[np.int64]
) -> dict[str, float]:
    r"""Share of each factor in what the busiest latent does with a few images.

    The variance of its means that lies between values of the factor; with a few dozen
    images this is less biased than information, which sees a difference in every image.

    .. math:: \frac{\operatorname{Var}(\mathbb{E}[z \mid v_k])}{\operatorname{Var}(z)}

    Args:
        model: Folder of a run or model.
        data: What the images are taken from, by name.
        rows: Which images, ``(n_rows,)``.

    Returns:
        From 0 to 1 by the name of the factor.
    """
    found = encode(load(model), open_dataset(data), rows=rows, progress=False)
    assert found.factors is not None
    latent = found.codes[:, found.codes.var(axis=0).argmax()]
    shares = {}
    for name, values in zip(found.factor_names, found.factors.T, strict=True):
        _, group = np.unique(values, return_inverse=True)
        means = np.bincount(group, weights=latent) / np.bincount(group)
        shares[name] = float(means[group].var() / (latent.var() or 1.0))
    return shares
