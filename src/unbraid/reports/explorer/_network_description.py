"""Describing networks as lists of layers that a page can evaluate."""

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
    FeatureAugmented,
    Gaussian,
    KernelAugmented,
    Laplace,
    LinearModel,
)
from unbraid.models.networks import Cut, EvenSides, LineFeatures, ProductDecoder

_SMALL = 16_384
"""Tensors of at most this size are stored in single precision."""


def describe_model(model: Autoencoder | LinearModel) -> dict[str, Any]:
    """Return everything a page needs to encode and decode.

    Args:
        model: Model of images, made of the layers of unbraid's own networks.

    Returns:
        Dictionary of JSON types: layers of ``encoder`` and ``decoder``, ``n_latents``,
        ``mean`` and ``std`` of each channel, and the activation of the ``output``.

    Raises:
        ValueError: If the page cannot evaluate one of the layers.
    """
    n_channels = model.image_shape[0]
    if isinstance(model, LinearModel):
        center, encoding = model.centre, model.encoding
        return {
            "n_latents": model.n_latents,
            "encoder": [
                {"kind": "flatten"},
                _dense(encoding.T, -center @ encoding),
            ],
            "decoder": [
                _dense(model.decoding.T, center),
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
        "output": _output_activation(model.likelihood),
    }


def describe_layers(module: nn.Module, part: str = "network") -> list[dict[str, Any]]:
    """Return the layers of a network in order.

    Args:
        module: Layer, or a sequence of layers, which may be nested.
        part: Name of the network in error messages.

    Example:
        >>> layers = describe_layers(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
        >>> [layer["kind"] for layer in layers]
        ['dense', 'leaky_relu']
    """
    if isinstance(module, nn.Sequential):
        return [layer for child in module for layer in describe_layers(child, part)]
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
        case ProductDecoder():
            return [_product(module)]
        case nn.Identity():
            return []
    raise ValueError(
        "The explorer supports dense layers, plain convolutions, ReLU, flattening and "
        f"unflattening only, but there is the layer {module} in the {part}."
    )


def plain_tensor(values: torch.Tensor) -> dict[str, Any]:
    """Encode a tensor as text, in half precision or, if small, single precision.

    Large tensors are divided by their largest value first, so that none overflows.
    """
    array: NDArray[np.float32] = values.detach().cpu().float().numpy()
    if not np.isfinite(array).all():
        raise ValueError(
            "The explorer needs finite weights, but the model has NaN or infinity."
        )
    if array.size <= _SMALL:
        return {"type": "float32", "bytes": _to_base64(array.astype("<f4"))}
    scale = float(np.abs(array).max()) or 1.0
    halves = (array / np.float32(scale)).astype("<f2")
    return {"type": "float16", "scale": scale, "bytes": _to_base64(halves)}


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


def _product(decoder: ProductDecoder) -> dict[str, Any]:
    return {
        "kind": "product",
        "rows": _lines(decoder.rows),
        "columns": _lines(decoder.columns),
        "channels": _dense(decoder.channels.weight, decoder.channels.bias),
    }


def _lines(lines: LineFeatures) -> dict[str, Any]:
    """Describe the network of rows or columns, with its positions worked out."""
    offsets = lines.embed_positions()
    return {
        "code": _dense(lines.from_code.weight, lines.from_code.bias),
        "shape": list(offsets.shape),
        "offsets": plain_tensor(offsets),
        "layers": describe_layers(lines.layers, "decoder"),
    }


def _is_plain(layer: nn.Conv2d | nn.ConvTranspose2d) -> bool:
    return (
        layer.groups == 1
        and tuple(layer.dilation) == (1, 1)
        and not isinstance(layer.padding, str)
        and layer.padding_mode == "zeros"
        and tuple(layer.output_padding) == (0, 0)
    )


def _output_activation(likelihood: AbstractLikelihood) -> str:
    """Return the function from the output of the decoder to the expected image."""
    if isinstance(likelihood, KernelAugmented | FeatureAugmented):
        return _output_activation(likelihood.base)
    if isinstance(likelihood, Bernoulli):
        return "sigmoid"
    if isinstance(likelihood, Gaussian | Laplace):
        return "identity"
    raise ValueError(
        "The explorer supports Bernoulli, Gaussian and Laplace likelihoods only, got "
        f"{likelihood!r}."
    )


def _to_base64(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
