"""Loss: what an objective asks for at one step."""

from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class Loss:
    """A number to be made small, and what it is made of.

    Attributes:
        total: What is differentiated, a scalar.
        terms: Its parts by name, unweighted scalars in nats per image.
        kl_per_latent: Mean divergence of each latent from the prior, ``(n_latents,)``;
            ``None`` without a prior.
    """

    total: torch.Tensor
    terms: dict[str, torch.Tensor] = field(default_factory=dict)
    kl_per_latent: torch.Tensor | None = None
