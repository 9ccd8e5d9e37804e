"""Active units: how many latents the encoder uses."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_number
from unbraid.metrics._inputs import read_codes
from unbraid.metrics._score import Score


def active_units(codes: ArrayLike, *, threshold: float = 0.01) -> Score:
    r"""Number of latents whose mean changes with the observation.

    The mean of a latent that the encoder does not use is the same for all observations.
    Latents whose mean has more variance than a threshold are counted.

    .. math:: \#\{j : \operatorname{Var}_x(\mathbb{E}[z_j \mid x]) > \delta\}

    Args:
        codes: Latent means, ``(n_rows, n_latents)``. Constant latents are not active,
            duplicate ones count one by one.
        threshold: Variance :math:`\delta` above which a latent is active, at least 0.

    Returns:
        A whole number from 0 to the number of latents. ``details`` has the variance of
        each as ``latent_0``, ...

    Example:
        >>> active_units([[0.0, 1.0], [1.0, 1.01], [2.0, 1.0]])
        1.0

    References:
        Burda, Grosse and Salakhutdinov (2016), Importance Weighted Autoencoders.
        https://arxiv.org/abs/1509.00519
    """
    codes = read_codes("active_units", codes)
    check_number("active_units: threshold", threshold, least=0.0)
    # Exactly zero for a constant latent, because a mean of equal numbers is not exact.
    variances = np.var(codes - codes[0], axis=0)
    return Score(
        int((variances > threshold).sum()),
        name="active_units",
        variant=f"threshold {threshold:g}",
        details={f"latent_{j}": variance for j, variance in enumerate(variances)},
    )
