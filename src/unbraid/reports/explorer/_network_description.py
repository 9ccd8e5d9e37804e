"""Networks as plain lists of layers, which a page can compute without torch."""

import base64
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from unbraid.models import (
    AbstractLikelihood,
    Autoencoder,
    Bernoulli,
    Gaussian,
    KernelAugmented,
    Laplace,
    LinearModel,
)
from unbraid.models.networks import Cut, EvenSides

_SMALL = 16_384
"""Tensors of at most so many numbers stay in single precision: they weigh nothing."""


def describe_model(model: Autoencoder | LinearModel) -> dict[str, Any]:
    """Everything a page needs to encode and decode.

    Args:
        model: Of images; its layers must be those that unbraid's own networks use.

    Returns:
        Plain values: layers of ``encoder`` and ``decoder``, ``n_latents``, ``mean`` and
        ``std`` of each channel, and what becomes of the decoder's ``output``.

    Raises:
        ValueError: If there is a layer that the page could not compute.
    """
    n_channels = model.image_shape[0]
    if isinstance(model, LinearModel):
        centre, encoding = model.centre, model.encoding
        return {
            "n_latents": model.n_latents,
            "encoder": [
                {"kind": "flatten"},
                _dense(encoding.T, -centre @ encoding),
            ],
            "decoder": [
                _dense(model.decoding.T, centre),
                {"kind": "unflatten", "shape": list(model.image_shape)},
            ],
            "mean": [0.0] * n_channels,
            "std": [1.0] * n_channels,
            "output": "identity",
        }
    return {
        "n_latents": model.n_latents,
        "encoder": describe_layers(model.encoder, "encoder"),
        "decoder": describe_layers(model.decoder, "decoder"),
        "mean": model.mean.flatten().tolist(),
        "std": model.std.flatten().tolist(),
        "output": _expected(model.likelihood),
    }


def describe_layers(module: nn.Module, place: str = "network") -> list[dict[str, Any]]:
    """Layers in the order in which they are computed.

    Args:
        module: A layer, or a sequence of layers or sequences.
        place: What it is called in an error.

    Example:
        >>> layers = describe_layers(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
        >>> [layer["kind"] for layer in layers]
        ['dense', 'leaky_relu']
    """
    if isinstance(module, nn.Sequential):
        return [layer for part in module for layer in describe_layers(part, place)]
    match module:
        case nn.Linear():
            return [_dense(module.weight, module.bias)]
        case nn.Conv2d() if _is_plain(module):
            return [_convolution("convolution", module)]
        case nn.ConvTranspose2d() if _is_plain(module):
            return [_convolution("transposed_convolution", module)]
        case nn.ReLU():
            return [{"kind": "leaky_relu", "slope": 0.0}]
        case nn.LeakyReLU():
            return [{"kind": "leaky_relu", "slope": module.negative_slope}]
        case nn.Flatten() if (module.start_dim, module.end_dim) == (1, -1):
            return [{"kind": "flatten"}]
        case nn.Unflatten() if module.dim == 1 and len(module.unflattened_size) == 3:
            shape = [int(size) for size in module.unflattened_size]
            return [{"kind": "unflatten", "shape": shape}]
        case EvenSides():
            return [{"kind": "even_sides"}]
        case Cut():
            return [{"kind": "cut", "sides": list(module.sides)}]
        case nn.Identity():
            return []
    raise ValueError(
        "explorer: expected dense layers, plain convolutions, ReLU, flattening and "
        f"unflattening, got the layer {module} in the {place}."
    )


def plain_tensor(values: torch.Tensor) -> dict[str, Any]:
    """Numbers as text: in half precision, small tensors in single precision.

    Large ones are divided by their largest number first, so that none is out of range.
    """
    array: NDArray[np.float32] = values.detach().cpu().float().numpy()
    if not np.isfinite(array).all():
        raise ValueError("explorer: expected finite weights, got NaN or infinity.")
    if array.size <= _SMALL:
        return {"type": "float32", "bytes": _text(array.astype("<f4"))}
    scale = float(np.abs(array).max()) or 1.0
    halves = (array / np.float32(scale)).astype("<f2")
    return {"type": "float16", "scale": scale, "bytes": _text(halves)}


def _dense(weight: torch.Tensor, bias: torch.Tensor | None) -> dict[str, Any]:
    return {
        "kind": "dense",
        "shape": list(weight.shape),
        "weight": plain_tensor(weight),
        "bias": None if bias is None else plain_tensor(bias),
    }


def _convolution(kind: str, layer: nn.Conv2d | nn.ConvTranspose2d) -> dict[str, Any]:
    return {
        "kind": kind,
        "shape": list(layer.weight.shape),
        "stride": list(layer.stride),
        "padding": list(layer.padding),
        "weight": plain_tensor(layer.weight),
        "bias": None if layer.bias is None else plain_tensor(layer.bias),
    }


def _is_plain(layer: nn.Conv2d | nn.ConvTranspose2d) -> bool:
    return (
        layer.groups == 1
        and tuple(layer.dilation) == (1, 1)
        and not isinstance(layer.padding, str)
        and layer.padding_mode == "zeros"
        and tuple(layer.output_padding) == (0, 0)
    )


def _expected(likelihood: AbstractLikelihood) -> str:
    """How the expected image follows from what the decoder gives."""
    if isinstance(likelihood, KernelAugmented):
        return _expected(likelihood.base)
    if isinstance(likelihood, Bernoulli):
        return "sigmoid"
    if isinstance(likelihood, Gaussian | Laplace):
        return "identity"
    raise ValueError(
        "explorer: expected a Bernoulli, Gaussian or Laplace likelihood, got "
        f"{likelihood!r}."
    )


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
