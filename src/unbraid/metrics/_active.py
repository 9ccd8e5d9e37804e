"""Which latents a representation uses."""

import numpy as np
from numpy.typing import NDArray

SHARE = 0.05
"""A latent with less than this share of the widest latent's range is dead."""


def active_latents(
    codes: NDArray[np.floating], *, share: float = SHARE
) -> NDArray[np.bool_]:
    """Latents whose range is more than ``share`` of the widest latent's range.

    Relative, so that rescaling all codes changes nothing; a constant latent is never
    active, and when all are constant none is.

    Args:
        codes: Shape ``(n_rows, n_latents)``.
        share: From 0, which keeps all latents that vary, to 1.

    Returns:
        True for each active latent, ``(n_latents,)``.

    Example:
        >>> active_latents(np.array([[0.0, 0.0, 7.0], [1.0, 0.01, 7.0]]))
        array([ True, False, False])

    References:
        Hsu, Dorrell, Whittington, Wu and Finn (2023), Disentanglement via Latent
        Quantization, whose published code keeps ranges above a twentieth.
    """
    ranges = np.ptp(codes, axis=0)
    return ranges > share * ranges.max()
