r"""Likelihoods: how well a decoder's output explains an image.

Each gives :math:`-\log p(x \mid z)` in nats, summed over pixels, up to a constant that
makes it zero for a perfect explanation where that is possible.
"""

import abc
import math
from dataclasses import dataclass

import torch
from torch.nn import functional

from unbraid.foundation import check_positive

_CLOSEST = 1e-6
"""How near to 0 and 1 a probability may come before its logarithm is taken."""


class AbstractLikelihood(abc.ABC):
    """Settings of a distribution of images around a decoder's output."""

    needs_unit_range = False
    """Whether pixels must lie between 0 and 1."""

    @abc.abstractmethod
    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Negative log-likelihood of images, ``(batch,)``.

        Args:
            images: Any shape that begins with the batch.
            output: What the decoder gave, same shape.
        """

    def mean(self, output: torch.Tensor) -> torch.Tensor:
        """The expected image, from what the decoder gave."""
        return output

    def log_normalizer(self, n_pixels: int) -> float:
        """What must be added to the loss for it to be that of a density, in nats.

        Args:
            n_pixels: Numbers in an image.

        Returns:
            Zero for what is a probability as it is, or no density at all.
        """
        del n_pixels
        return 0.0

    def distance(self, images: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Loss of images if others were their means: how far apart they look.

        Args:
            images: Pictures, any shape that begins with the batch.
            others: Pictures too, and not what a decoder gave; same shape.

        Returns:
            ``(batch,)``.
        """
        return self.loss(images, others)


@dataclass(frozen=True, kw_only=True)
class Bernoulli(AbstractLikelihood):
    r"""Every pixel is the probability of a coin; the decoder gives its logit.

    .. math:: -\sum_i x_i \log y_i + (1 - x_i) \log (1 - y_i),
        \qquad y = \operatorname{sigmoid}(\text{output})

    Pixels between 0 and 1 are allowed, as in most of the published work, though this
    is then no likelihood, and not zero at its minimum.

    Example:
        >>> Bernoulli().loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0]]))
        tensor([1.3863])
    """

    needs_unit_range = True

    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Cross-entropy of the logits, ``(batch,)``."""
        entropies = functional.binary_cross_entropy_with_logits(
            output, images, reduction="none"
        )
        return per_image(entropies)

    def mean(self, output: torch.Tensor) -> torch.Tensor:
        """Probabilities."""
        return output.sigmoid()

    def distance(self, images: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Cross-entropy of the pictures taken as probabilities, ``(batch,)``."""
        chances = others.clamp(_CLOSEST, 1.0 - _CLOSEST)
        entropies = functional.binary_cross_entropy(chances, images, reduction="none")
        return per_image(entropies)


@dataclass(frozen=True, kw_only=True)
class Gaussian(AbstractLikelihood):
    r"""Normal noise of one variance around the decoder's output.

    .. math:: \frac{1}{2 \sigma^2} \sum_i (x_i - y_i)^2

    Args:
        variance: :math:`\sigma^2`, above 0. The default of one half makes the loss the
            plain squared error that most implementations use.

    Example:
        >>> Gaussian().loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 3.0]]))
        tensor([10.])
    """

    variance: float = 0.5

    def __post_init__(self) -> None:
        check_positive("variance", self.variance)

    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Scaled squared error, ``(batch,)``."""
        return per_image((images - output).square()) / (2.0 * self.variance)

    def log_normalizer(self, n_pixels: int) -> float:
        r""":math:`\frac{n}{2} \log 2 \pi \sigma^2`."""
        return 0.5 * n_pixels * math.log(2.0 * math.pi * self.variance)


@dataclass(frozen=True, kw_only=True)
class Laplace(AbstractLikelihood):
    r"""Two-sided exponential noise around the decoder's output.

    .. math:: \frac{1}{b} \sum_i |x_i - y_i|

    Args:
        scale: :math:`b`, above 0.

    Example:
        >>> Laplace().loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 3.0]]))
        tensor([4.])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        check_positive("scale", self.scale)

    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Scaled absolute error, ``(batch,)``."""
        return per_image((images - output).abs()) / self.scale

    def log_normalizer(self, n_pixels: int) -> float:
        r""":math:`n \log 2 b`."""
        return n_pixels * math.log(2.0 * self.scale)


def per_image(losses: torch.Tensor) -> torch.Tensor:
    """Sums over everything but the batch, ``(batch,)``.

    Without flattening, which would copy images that keep channels together.
    """
    return losses.sum(dim=tuple(range(1, losses.ndim)))
