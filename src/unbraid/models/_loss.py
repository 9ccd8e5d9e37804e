"""Loss: the result of an objective for one batch."""

from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class Loss:
    """A scalar to minimize, and its terms.

    Attributes:
        total: Scalar to minimize, with gradient.
        terms: Unweighted terms by name, scalars in nats per image.
        kl_per_latent: Mean divergence of each latent from the prior, ``(n_latents,)``;
            ``None`` without a prior.
    """

    total: torch.Tensor
    terms: dict[str, torch.Tensor] = field(default_factory=dict)
    kl_per_latent: torch.Tensor | None = None
