"""What the latents of a trained model know of each factor."""

from pathlib import Path

import numpy as np

from unbraid.data import open_dataset
from unbraid.metrics import Factors
from unbraid.metrics._information import (
    bin_codes,
    factor_entropies,
    mutual_information_matrix,
)
from unbraid.representation import encode
from unbraid.training import load

_N_BINS = 20
_MOST_ROWS = 20_000


def learned_factors(model: Path, data: str) -> dict[str, float]:
    r"""Share of each factor that its best latent knows.

    .. math:: \max_j \frac{I(z_j; v_k)}{H(v_k)}

    Args:
        model: Folder of a run or model.
        data: What it was trained on, by name.

    Returns:
        From 0 (nothing) to 1 (everything) by the name of the factor, 0 for factors
        that have one value only.
    """
    dataset = open_dataset(data)
    rows = np.arange(0, len(dataset), max(1, len(dataset) // _MOST_ROWS))
    found = encode(load(model), dataset, rows=rows, progress=False)
    assert found.factors is not None
    factors = Factors(found.factors, names=found.factor_names)
    known = mutual_information_matrix(bin_codes(found.codes, _N_BINS), factors)
    entropies = factor_entropies(factors)
    shares = known.max(axis=0) / np.where(entropies > 0, entropies, 1.0)
    return dict(zip(factors.names, shares.tolist(), strict=True))
