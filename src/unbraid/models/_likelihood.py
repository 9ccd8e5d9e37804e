r"""Likelihoods: distributions of images given the output of a decoder.

Each returns :math:`-\log p(x \mid z)` in nats, summed over pixels, up to a constant
that makes it zero for a perfect reconstruction where that is possible.
"""

import abc
import math
from dataclasses import dataclass

import torch
from torch.nn import functional

from unbraid.foundation import check_positive

_CLOSEST = 1e-6
"""Smallest distance from 0 and 1 to which probabilities are clipped."""


class AbstractLikelihood(abc.ABC):
    """Settings of a distribution of images around a decoder's output."""

    needs_unit_range = False
    """Whether pixels must lie between 0 and 1."""

    @abc.abstractmethod
    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Negative log-likelihood of images, ``(batch,)``.

        Args:
            images: Images of any shape that begins with the batch.
            output: Output of the decoder, of the same shape.
        """

    def mean(self, output: torch.Tensor) -> torch.Tensor:
        """Return the expected images given the output of the decoder."""
        return output

    def log_normalizer(self, n_pixels: int) -> float:
        """Return the constant that makes the loss a negative log-density, in nats.

        Args:
            n_pixels: Number of values in an image.

        Returns:
            The constant to add to the loss; zero if the loss is the logarithm of a
            probability, or of no density at all.
        """
        del n_pixels
        return 0.0

    def distance(self, images: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Return the loss of images whose expected images are the others.

        Args:
            images: Images of any shape that begins with the batch.
            others: Other images of the same shape (images, not outputs of a decoder).

        Returns:
            Distances of shape ``(batch,)``.
        """
        return self.loss(images, others)


@dataclass(frozen=True, kw_only=True)
class Bernoulli(AbstractLikelihood):
    r"""Bernoulli distribution of each pixel; the decoder returns logits.

    .. math:: -\sum_i x_i \log y_i + (1 - x_i) \log (1 - y_i),
        \qquad y = \operatorname{sigmoid}(\text{output})

    Pixels between 0 and 1 are allowed, as in most published work. The loss is then not
    the logarithm of a likelihood, and not zero at its minimum.

    Example:
        >>> Bernoulli().loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0]]))
        tensor([1.3863])
    """

    needs_unit_range = True

    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Return the cross-entropy of the logits, ``(batch,)``."""
        entropies = functional.binary_cross_entropy_with_logits(
            output, images, reduction="none"
        )
        return sum_per_image(entropies)

    def mean(self, output: torch.Tensor) -> torch.Tensor:
        """Return the probabilities of the logits."""
        return output.sigmoid()

    def distance(self, images: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Return the cross-entropy with the others as probabilities, ``(batch,)``."""
        probabilities = others.clamp(_CLOSEST, 1.0 - _CLOSEST)
        entropies = functional.binary_cross_entropy(
            probabilities, images, reduction="none"
        )
        return sum_per_image(entropies)


@dataclass(frozen=True, kw_only=True)
class Gaussian(AbstractLikelihood):
    r"""Normal distribution around the output of the decoder, with a fixed variance.

    .. math:: \frac{1}{2 \sigma^2} \sum_i (x_i - y_i)^2

    Args:
        variance: Variance :math:`\sigma^2`, positive. With the default of one half, the
            loss is the squared error, which most implementations use.

    Example:
        >>> Gaussian().loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 3.0]]))
        tensor([10.])
    """

    variance: float = 0.5

    def __post_init__(self) -> None:
        check_positive("variance", self.variance)

    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Return the scaled squared error, ``(batch,)``."""
        return sum_per_image((images - output).square()) / (2.0 * self.variance)

    def log_normalizer(self, n_pixels: int) -> float:
        r"""Return :math:`\frac{n}{2} \log 2 \pi \sigma^2`."""
        return 0.5 * n_pixels * math.log(2.0 * math.pi * self.variance)


@dataclass(frozen=True, kw_only=True)
class Laplace(AbstractLikelihood):
    r"""Laplace distribution around the output of the decoder.

    .. math:: \frac{1}{b} \sum_i |x_i - y_i|

    Args:
        scale: Scale :math:`b`, positive.

    Example:
        >>> Laplace().loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 3.0]]))
        tensor([4.])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        check_positive("scale", self.scale)

    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Return the scaled absolute error, ``(batch,)``."""
        return sum_per_image((images - output).abs()) / self.scale

    def log_normalizer(self, n_pixels: int) -> float:
        r"""Return :math:`n \log 2 b`."""
        return n_pixels * math.log(2.0 * self.scale)


def sum_per_image(losses: torch.Tensor) -> torch.Tensor:
    """Sum over all axes but the batch, ``(batch,)``.

    Flattening first would copy images in the channels-last memory format.
    """
    return losses.sum(dim=tuple(range(1, losses.ndim)))
