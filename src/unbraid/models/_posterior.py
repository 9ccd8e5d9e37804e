"""Posteriors: distributions of the code of an image."""

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class DiagonalGaussian:
    r"""Independent normal distributions, one per latent.

    Attributes:
        mean: Means :math:`\mu`, ``(batch, n_latents)``.
        log_variance: Log-variances :math:`\log \sigma^2`, of the same shape.

    Example:
        >>> standard = DiagonalGaussian(torch.zeros(1, 2), torch.zeros(1, 2))
        >>> standard.kl_to_prior()
        tensor([[0., 0.]])
    """

    mean: torch.Tensor
    log_variance: torch.Tensor

    @property
    def variance(self) -> torch.Tensor:
        r"""Variances :math:`\sigma^2`, ``(batch, n_latents)``."""
        return self.log_variance.exp()

    def sample(self, *, generator: torch.Generator) -> torch.Tensor:
        """Draw one code per image, differentiable in mean and log-variance."""
        # torch.distributions takes no generator.
        noise = torch.empty_like(self.mean).normal_(generator=generator)
        return self.mean + (0.5 * self.log_variance).exp() * noise

    def kl_to_prior(self) -> torch.Tensor:
        r"""Return the divergence of each latent from a standard normal, in nats.

        .. math::
            \tfrac{1}{2} \bigl( \mu^2 + \sigma^2 - \log \sigma^2 - 1 \bigr)

        Returns:
            Divergences of shape ``(batch, n_latents)``, at least 0.

        References:
            Kingma and Welling (2014), Auto-Encoding Variational Bayes, appendix B.
            https://arxiv.org/abs/1312.6114
        """
        return 0.5 * (self.mean.square() + self.variance - self.log_variance - 1.0)

    def kl_to(self, other: "DiagonalGaussian") -> torch.Tensor:
        r"""Return the divergence :math:`KL(\text{self} \| \text{other})` per latent.

        .. math::
            \tfrac{1}{2} \Bigl( \frac{\sigma_1^2 + (\mu_1 - \mu_2)^2}{\sigma_2^2}
            - \log \sigma_1^2 + \log \sigma_2^2 - 1 \Bigr)
        """
        apart = (self.mean - other.mean).square()
        ratio = (self.variance + apart) / other.variance
        return 0.5 * (ratio - self.log_variance + other.log_variance - 1.0)

    def log_density(self, codes: torch.Tensor) -> torch.Tensor:
        """Return the log-density of codes per latent; shapes are broadcast."""
        apart = (codes - self.mean).square() / self.variance
        return -0.5 * (apart + self.log_variance + math.log(2 * math.pi))


@dataclass(frozen=True)
class PointMass:
    """A code without uncertainty, as of a plain autoencoder.

    Attributes:
        mean: Codes ``(batch, n_latents)``.
    """

    mean: torch.Tensor

    def sample(self, *, generator: torch.Generator) -> torch.Tensor:
        """Return the codes themselves."""
        del generator
        return self.mean


Posterior = DiagonalGaussian | PointMass
