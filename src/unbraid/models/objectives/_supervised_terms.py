"""Supervised terms, which compare latent ``i`` with factor ``i``."""

from typing import Literal

import torch
from torch import nn
from torch.nn import functional

SupervisedKind = Literal["l2", "l2_sigmoid", "cross_entropy", "covariance", "embedding"]


class ScaledSquares(nn.Module):
    r"""Squared error of codes times a learned scale.

    .. math:: \sum_k (b \mu_k - y_k)^2
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, codes: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean for codes ``(n, n_latents)``, labels ``(n, n_factors)``."""
        held = codes[:, : labels.shape[1]]
        return (self.scale * held - labels).square().sum(dim=1).mean()


class _SizedTerm(nn.Module):
    """A term that needs the number of values of each factor."""

    sizes: torch.Tensor

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.register_buffer("sizes", torch.tensor(sizes), persistent=False)


class SigmoidSquares(_SizedTerm):
    r"""Squared error of the sigmoid of codes.

    .. math:: \sum_k (\operatorname{sigmoid}(\mu_k) - y_k / f_k)^2
    """

    def forward(self, codes: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean for codes ``(n, n_latents)``, labels ``(n, n_factors)``."""
        held = codes[:, : labels.shape[1]].sigmoid()
        return (held - labels / self.sizes).square().sum(dim=1).mean()


class CrossEntropy(_SizedTerm):
    r"""Cross-entropy of codes as logits of labels divided by their number of values.

    .. math::
        -\sum_k \bigl( s_k \log \operatorname{sigmoid}(\mu_k)
        + (1 - s_k) \log \operatorname{sigmoid}(-\mu_k) \bigr), \qquad s_k = y_k / f_k
    """

    def forward(self, codes: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean for codes ``(n, n_latents)``, labels ``(n, n_factors)``."""
        held = codes[:, : labels.shape[1]]
        shares = (labels / self.sizes).to(held.dtype)
        losses = functional.binary_cross_entropy_with_logits(
            held, shares, reduction="none"
        )
        return losses.sum(dim=1).mean()


class StrayCovariance(nn.Module):
    r"""Squared covariances of latents with the factors of other latents.

    .. math:: \sum_{i \neq k} \operatorname{Cov}(\mu_i, y_k)^2
    """

    def forward(self, codes: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the sum for codes ``(n, n_latents)``, labels ``(n, n_factors)``."""
        values = labels.to(codes.dtype)
        codes = codes - codes.mean(dim=0)
        covariance = codes.T @ (values - values.mean(dim=0)) / len(codes)
        own = torch.eye(*covariance.shape, device=codes.device, dtype=torch.bool)
        return covariance.masked_fill(own, 0.0).square().sum()


class Embedding(nn.Module):
    r"""Cross-entropy with positions of a factor's values on the axis of its latent.

    .. math::
        -\sum_k \log \frac{\exp(-\sigma^2 (\mu_k - e_{k, y_k})^2)}
        {\sum_v \exp(-\sigma^2 (\mu_k - e_{k, v})^2)}

    Args:
        sizes: Number of values of each factor.
        sigma: Sharpness of the positions, positive.
        is_ordered: Whether positions are evenly spaced in the order of the values, so
            that only a start and a step are learned.
    """

    values: torch.Tensor
    is_value: torch.Tensor

    def __init__(
        self, sizes: tuple[int, ...], *, sigma: float, is_ordered: bool
    ) -> None:
        super().__init__()
        self.sigma = sigma
        self.is_ordered = is_ordered
        self.register_buffer("values", torch.arange(max(sizes)), persistent=False)
        rows = torch.tensor(sizes)[:, None]
        self.register_buffer("is_value", self.values < rows, persistent=False)
        if is_ordered:
            self.start = nn.Parameter(torch.full((len(sizes), 1), -1.0))
            self.step = nn.Parameter(2.0 / (rows - 1).clamp(min=1))
        else:
            # Named as in saved states.
            self.places = nn.Parameter(torch.randn(len(sizes), max(sizes)))

    def forward(self, codes: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean for codes ``(n, n_latents)``, labels ``(n, n_factors)``."""
        distances = codes[:, : labels.shape[1], None] - self._positions()
        logits = -(self.sigma * distances).square()
        # Columns beyond the number of values of a factor are not used.
        logits = logits.masked_fill(~self.is_value, -torch.inf)
        losses = functional.cross_entropy(
            logits.flatten(0, 1), labels.long().flatten(), reduction="sum"
        )
        return losses / len(codes)

    def _positions(self) -> torch.Tensor:
        if self.is_ordered:
            return self.start + self.step * self.values
        return self.places
