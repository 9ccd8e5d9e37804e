"""What scores of trained models need: active codes, decodings and encodings."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.metrics import read_codes
from unbraid.metrics.unsupervised import read_log_variances
from unbraid.representation import evaluation_mode

from ._comparable import Coded, coded_parts, nats_per_latent

_BATCH = 1024


class Decoder(Protocol):
    """Any model with a decoder.

    Only ``decode`` is needed: from codes ``(batch, n_latents)`` to images ``(batch,
    ...)``, both tensors.
    """

    def decode(self, codes: torch.Tensor, /) -> torch.Tensor:
        """Images of codes."""
        ...


class EncoderDecoder(Decoder, Protocol):
    """Any model with an encoder and a decoder.

    ``encode`` takes the images that ``decode`` of any compared model returns, and
    returns codes ``(batch, n_latents)`` or a posterior with such a ``mean``.
    """

    def encode(self, images: torch.Tensor, /) -> Any:
        """Codes or posterior of images."""
        ...


@dataclass(frozen=True, eq=False)
class ActiveCodes:
    """Codes of one model, and which of its latents are active.

    Attributes:
        codes: Posterior means, ``(n_rows, n_latents)``.
        active: Indices of the active latents, ``(n_active,)``.
    """

    codes: NDArray[np.float64]
    active: NDArray[np.int64]

    @property
    def n_active(self) -> int:
        """Number of active latents."""
        return len(self.active)


def read_active(who: str, coded: Coded, *, kl_threshold: float) -> ActiveCodes:
    """Check the codes of one model and find its active latents.

    Args:
        who: Name of the caller, for messages.
        coded: Representation, codes, or tuple of codes and log-variances.
        kl_threshold: Nats above which a latent is active. Without log-variances, all
            latents that vary are active.
    """
    if not kl_threshold >= 0.0:
        raise ValueError(f"{who}: kl_threshold must be at least 0, got {kl_threshold}.")
    codes, logs, _ = coded_parts(coded)
    codes = read_codes(who, codes)
    if logs is not None:
        logs = read_log_variances(who, codes, logs)
    nats = nats_per_latent(codes, logs)
    return ActiveCodes(codes, np.flatnonzero(nats > kl_threshold))


def require_methods(who: str, model: Any, *methods: str) -> None:
    """Raise an error if a model lacks one of the methods."""
    for method in methods:
        if not callable(getattr(model, method, None)):
            raise TypeError(
                f"{who} needs a model with a method {method!r}, but "
                f"{type(model).__name__} has none."
            )


def codes_as_tensor(model: Any, codes: NDArray[np.float64]) -> torch.Tensor:
    """Codes on the device and in the precision of a model's weights."""
    weight = None
    if isinstance(model, torch.nn.Module):
        weight = next((p for p in model.parameters() if p.is_floating_point()), None)
    if weight is None:
        return torch.as_tensor(codes, dtype=torch.float32)
    return torch.as_tensor(codes, dtype=weight.dtype, device=weight.device)


def decode_codes(who: str, model: Decoder, codes: NDArray[np.float64]) -> torch.Tensor:
    """Images of codes ``(n, n_latents)``, decoded in batches, ``(n, ...)``."""
    with evaluation_mode(model), torch.no_grad():
        images = torch.cat(
            [model.decode(part) for part in codes_as_tensor(model, codes).split(_BATCH)]
        )
    if len(images) != len(codes):
        raise ValueError(
            f"{who}: decode must return one image per code, got {len(images)} images "
            f"of {len(codes)} codes."
        )
    if not bool(torch.isfinite(images).all()):
        raise ValueError(f"{who}: decode returned NaN or infinity.")
    return images


def encode_images(
    who: str, model: EncoderDecoder, images: torch.Tensor
) -> NDArray[np.float64]:
    """Posterior means ``(n, n_latents)`` of images ``(n, ...)``, in batches."""
    place = codes_as_tensor(model, np.empty(0))
    with evaluation_mode(model), torch.no_grad():
        parts = [
            model.encode(part.to(place.device, place.dtype))
            for part in images.split(_BATCH)
        ]
    means = [part if isinstance(part, torch.Tensor) else part.mean for part in parts]
    codes = torch.cat(means).double().cpu().numpy()
    if codes.ndim != 2 or len(codes) != len(images):
        raise ValueError(
            f"{who}: encode must return codes of shape ({len(images)}, n_latents), got "
            f"{codes.shape}."
        )
    return codes
