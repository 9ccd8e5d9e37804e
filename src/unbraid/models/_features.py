"""Feature-augmented likelihood, which also compares features of a small network."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Self

import torch
from torch.nn import functional

from unbraid.foundation import check_number

from ._likelihood import AbstractLikelihood, Gaussian, sum_per_image

Layer = tuple[torch.Tensor, torch.Tensor]
"""Weights ``(n_outputs, n_inputs, side, side)`` and biases ``(n_outputs,)``."""


@dataclass(frozen=True, kw_only=True)
class FeatureAugmented(AbstractLikelihood):
    r"""A likelihood of images, plus the squared distance of their features.

    Features are the output of a small convolutional network :math:`h`, whose weights
    do not change while a model is trained. They are usually learned, so that images
    look farther apart the more their factors differ; the likelihood of pixels makes
    sure that images can be reconstructed.

    .. math:: L(x, y) + a \, \| h(x) - h(y) \|^2

    Layers with an odd side keep the size of the images, and those with an even side
    halve it. Between layers is the function :math:`x \cdot \operatorname{sigmoid}(x)`.

    Args:
        base: Likelihood :math:`L`.
        extractor: Weights of all layers of :math:`h`: the content of a safetensors
            file, in base64. Written by :meth:`from_layers`.
        weight: Weight :math:`a`, at least 0.

    Example:
        >>> difference = torch.tensor([[[[1.0, -1.0, 0.0]] * 3]])
        >>> layers = [(difference, torch.zeros(1))]
        >>> loss = FeatureAugmented.from_layers(layers, weight=2.0)
        >>> loss.loss(torch.ones(1, 1, 1, 1), torch.zeros(1, 1, 1, 1))
        tensor([3.])

    References:
        Michlo (2022), dissertation, Eq. 6.3, with the squared distance of features as
        second term, and section 6.1.2: models other than a single kernel for more
        complex data. See :func:`unbraid.perception.learn_features`.
    """

    # Learned on such pixels, and not linear: others would give unknown features.
    needs_unit_range: ClassVar[bool] = True

    base: AbstractLikelihood = field(default_factory=Gaussian)
    extractor: str = field(repr=False)
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.base, AbstractLikelihood):
            raise ValueError(f"base must be a likelihood, got {self.base!r}.")
        check_number("weight", self.weight, least=0.0)
        if not isinstance(self.extractor, str):
            raise ValueError(
                "extractor must be a text, got "
                f"{type(self.extractor).__name__}. Make it with from_layers."
            )
        _read_layers(self.extractor, torch.float32, torch.device("cpu"))

    @classmethod
    def from_layers(
        cls,
        layers: Sequence[Layer],
        *,
        base: AbstractLikelihood | None = None,
        weight: float = 1.0,
    ) -> Self:
        """Return the likelihood with given layers.

        Args:
            layers: Weights ``(n_outputs, n_inputs, side, side)`` and biases
                ``(n_outputs,)`` of each layer, which are stored in single precision.
            base: Likelihood of pixels. Default: squared error.
            weight: Weight of the features.
        """
        from safetensors.torch import save

        tensors = {}
        for number, (kernels, biases) in enumerate(layers):
            for name, tensor in (("weight", kernels), ("bias", biases)):
                plain = tensor.detach().cpu().float().clone()
                # Several layouts have the same values, but would differ in bytes.
                tensors[f"{number}.{name}"] = plain.contiguous()
        text = base64.b64encode(save(tensors)).decode("ascii")
        return cls(base=base or Gaussian(), extractor=text, weight=weight)

    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Return the loss of the base plus the weighted distance of features."""
        plain = self.base.loss(images, output)
        return plain + self._apart(images, self.base.mean(output))

    def mean(self, output: torch.Tensor) -> torch.Tensor:
        """Return the expected images of the base."""
        return self.base.mean(output)

    def distance(self, images: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Return the distance of the base plus the weighted distance of features."""
        return self.base.distance(images, others) + self._apart(images, others)

    def features(self, images: torch.Tensor) -> torch.Tensor:
        """Return the features of images, ``(batch, n_features, height, width)``.

        Args:
            images: Images ``(batch, channels, height, width)``. Height and width of the
                features are smaller if layers halve the images.
        """
        return extract_features(
            images, _read_layers(self.extractor, images.dtype, images.device)
        )

    def _apart(self, images: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        apart = self.features(images) - self.features(others)
        return self.weight * sum_per_image(apart.square())


def extract_features(images: torch.Tensor, layers: Sequence[Layer]) -> torch.Tensor:
    """Return the output of convolutional layers, differentiable in both arguments.

    Args:
        images: Images ``(batch, channels, height, width)``.
        layers: Weights and biases of each layer, as in :class:`FeatureAugmented`.
    """
    channels = layers[0][0].shape[1]
    if images.ndim != 4 or images.shape[1] != channels:
        raise ValueError(
            f"images must have shape (batch, {channels}, height, width), got "
            f"{tuple(images.shape)}."
        )
    maps = images
    for number, (kernels, biases) in enumerate(layers):
        side = kernels.shape[-1]
        padding = (side - 1) // 2
        if min(maps.shape[2:]) + 2 * padding < side:
            raise ValueError(
                f"Images of {images.shape[2]}x{images.shape[3]} pixels are too small "
                f"for layer {number} of the features."
            )
        maps = functional.silu(maps) if number else maps
        stride = 2 if side % 2 == 0 else 1
        maps = functional.conv2d(maps, kernels, biases, stride=stride, padding=padding)
    return maps


@lru_cache(maxsize=8)
def _read_layers(
    text: str, dtype: torch.dtype, device: torch.device
) -> tuple[Layer, ...]:
    """Read the layers that :meth:`FeatureAugmented.from_layers` wrote, and check them.

    Kept for later calls, because a training step reads them twice.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        tensors = load(base64.b64decode(text, validate=True))
    except (binascii.Error, SafetensorError, ValueError) as error:
        raise ValueError(
            f"extractor must be a safetensors file in base64: {error}."
        ) from error
    names = [
        f"{number}.{name}"
        for number in range(len(tensors) // 2)
        for name in ("weight", "bias")
    ]
    if not names or set(names) != tensors.keys():
        raise ValueError(
            "extractor must have tensors 0.weight, 0.bias, 1.weight and so on, got "
            f"{', '.join(sorted(tensors)) or 'none'}."
        )
    for name in names:
        _check_tensor(name, tensors)
    with torch.inference_mode(False):
        read = [tensors[name].clone().to(device, dtype) for name in names]
    return tuple(zip(read[::2], read[1::2], strict=True))


def _check_tensor(name: str, tensors: dict[str, torch.Tensor]) -> None:
    """Require a finite tensor whose shape fits to that of the layer before it."""
    number, kind = name.split(".")
    tensor, kernels = tensors[name], tensors[f"{number}.weight"]
    is_fitting = tensor.ndim == 4 and tensor.shape[2] == tensor.shape[3] > 0
    if kind == "bias":
        is_fitting = tensor.shape == kernels.shape[:1]
    elif is_fitting and number != "0":
        before = tensors[f"{int(number) - 1}.bias"]
        is_fitting = tensor.shape[1] == before.numel()
    if not is_fitting or tensor.numel() == 0:
        raise ValueError(
            f"{name} of extractor must fit to the other tensors, got shape "
            f"{tuple(tensor.shape)}."
        )
    if not tensor.is_floating_point() or not bool(tensor.isfinite().all()):
        raise ValueError(f"{name} of extractor must have finite numbers only.")
