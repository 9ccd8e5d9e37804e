"""Shared latents of pairs whose factors are known."""

from typing import Literal

import torch

from unbraid.data import Batch

ExtraLatents = Literal["private", "shared"]


def known_shared_latents(
    batch: Batch, n_latents: int, *, extra_latents: ExtraLatents, caller: str
) -> torch.Tensor:
    """Find latents whose factors are equal in both images of a pair.

    Latent ``i`` belongs to factor ``i``.

    Args:
        batch: Pairs with factors.
        n_latents: Number of latents, at least the number of factors.
        extra_latents: Whether latents after the last factor are ``"private"`` to each
            image, or ``"shared"`` by every pair.
        caller: Name of the objective, for error messages.

    Returns:
        Whether each latent is shared, ``(batch, n_latents)``; a missing label counts as
        different.

    Example:
        >>> images, factors = torch.zeros(1, 5), torch.tensor([[3, 7]])
        >>> partner = torch.tensor([[3, 8]])
        >>> batch = Batch(images, factors, (images,), (partner,))
        >>> known_shared_latents(batch, 3, extra_latents="private", caller="GroupVAE")
        tensor([[ True, False, False]])
    """
    if batch.factors is None or not batch.partner_factors:
        raise ValueError(
            f"{caller} needs pairs with known factors, but the batch has none. Use "
            "data with labels, or AdaGVAE, which needs none."
        )
    n_factors = batch.factors.shape[1]
    if n_latents < n_factors:
        raise ValueError(
            f"{caller} needs a latent for each of the {n_factors} factors, got "
            f"{n_latents} latents."
        )
    is_equal = batch.factors == batch.partner_factors[0]
    extra = is_equal.new_full(
        (len(is_equal), n_latents - n_factors), extra_latents == "shared"
    )
    return torch.cat([is_equal, extra], dim=1)
