"""Information of the latents of a model about each factor."""

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
    r"""Return the share of the entropy of each factor that its best latent explains.

    .. math:: \max_j \frac{I(z_j; v_k)}{H(v_k)}

    Args:
        model: Folder of a run or model.
        data: Training data.
        in_nats: Whether to return nats instead of shares.

    Returns:
        Share of each factor by name, from 0 to 1; 0 for constant factors.
    """
    dataset = open_dataset(data)
    rows = random_rows(len(dataset), _MOST_ROWS, "learned factors")
    encoded = encode(load(model), dataset, rows=rows, progress=False)
    assert encoded.factors is not None
    factors = Factors(encoded.factors, names=encoded.factor_names)
    information = mutual_information_matrix(bin_codes(encoded.codes, _N_BINS), factors)
    entropies = factor_entropies(factors)
    whole = np.where((entropies > 0) & (not in_nats), entropies, 1.0)
    shares = information.max(axis=0) / whole
    return dict(zip(factors.names, shares.tolist(), strict=True))


def followed_factors(
    model: Path, data: DataSpec, rows: NDArray[np.int64]
) -> dict[str, float]:
    r"""Return the share of each factor in the variance of the most active latent.

    With a few dozen images, this is less biased than mutual information.

    .. math:: \frac{\operatorname{Var}(\mathbb{E}[z \mid v_k])}{\operatorname{Var}(z)}

    Args:
        model: Folder of a run or model.
        data: Dataset of the images.
        rows: Rows of the images, ``(n_rows,)``.

    Returns:
        Share of each factor by name, from 0 to 1.
    """
    encoded = encode(load(model), open_dataset(data), rows=rows, progress=False)
    assert encoded.factors is not None
    latent = encoded.codes[:, encoded.codes.var(axis=0).argmax()]
    shares = {}
    for name, values in zip(encoded.factor_names, encoded.factors.T, strict=True):
        _, group = np.unique(values, return_inverse=True)
        means = np.bincount(group, weights=latent) / np.bincount(group)
        shares[name] = float(means[group].var() / (latent.var() or 1.0))
    return shares
