"""Active latents of a representation."""

import numpy as np
from numpy.typing import NDArray

SHARE = 0.05
"""Share of the largest range below which a latent is inactive."""


def active_latents(
    codes: NDArray[np.floating], *, share: float = SHARE
) -> NDArray[np.bool_]:
    """Return which latents have more than a share of the largest range of all latents.

    The criterion is relative, so that rescaling all codes changes nothing. Constant
    latents are never active.

    Args:
        codes: Codes, ``(n_rows, n_latents)``.
        share: Share of the largest range, from 0 (every latent that varies is active)
            to 1.

    Returns:
        Whether each latent is active, ``(n_latents,)``.

    Example:
        >>> active_latents(np.array([[0.0, 0.0, 7.0], [1.0, 0.01, 7.0]]))
        array([ True, False, False])

    References:
        Hsu, Dorrell, Whittington, Wu and Finn (2023), Disentanglement via Latent
        Quantization, whose published code keeps ranges above a twentieth.
    """
    ranges = np.ptp(codes, axis=0)
    return ranges > share * ranges.max()
