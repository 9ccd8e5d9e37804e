"""Active codes, decodings and encodings of trained models."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.foundation import check_number
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
        """Decode codes."""
        ...


class EncoderDecoder(Decoder, Protocol):
    """Any model with an encoder and a decoder.

    ``encode`` takes the images that ``decode`` of any compared model returns, and
    returns codes ``(batch, n_latents)`` or a posterior with such a ``mean``.
    """

    def encode(self, images: torch.Tensor, /) -> Any:
        """Encode images as codes or a posterior."""
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


def read_active(caller: str, coded: Coded, *, kl_threshold: float) -> ActiveCodes:
    """Check the codes of one model and find its active latents.

    Args:
        caller: Name of the caller, for messages.
        coded: Representation, codes, or tuple of codes and log-variances.
        kl_threshold: Nats above which a latent is active. Without log-variances, all
            latents that vary are active.
    """
    check_number(f"{caller}: kl_threshold", kl_threshold, least=0.0)
    codes, logs, _ = coded_parts(coded)
    codes = read_codes(caller, codes)
    if logs is not None:
        logs = read_log_variances(caller, codes, logs)
    nats = nats_per_latent(codes, logs)
    return ActiveCodes(codes, np.flatnonzero(nats > kl_threshold))


def require_methods(caller: str, model: Any, *methods: str) -> None:
    """Raise an error if a model lacks one of the methods."""
    for method in methods:
        if not callable(getattr(model, method, None)):
            raise TypeError(
                f"{caller} needs a model with a method {method!r}, but "
                f"{type(model).__name__} has none."
            )


def codes_as_tensor(model: Any, codes: NDArray[np.float64]) -> torch.Tensor:
    """Return codes on the device and in the precision of a model's weights."""
    weight = None
    if isinstance(model, torch.nn.Module):
        weight = next((p for p in model.parameters() if p.is_floating_point()), None)
    if weight is None:
        return torch.as_tensor(codes, dtype=torch.float32)
    return torch.as_tensor(codes, dtype=weight.dtype, device=weight.device)


def decode_codes(
    caller: str, model: Decoder, codes: NDArray[np.float64]
) -> torch.Tensor:
    """Decode codes ``(n, n_latents)`` in batches, and return images ``(n, ...)``."""
    with evaluation_mode(model), torch.no_grad():
        images = torch.cat(
            [model.decode(part) for part in codes_as_tensor(model, codes).split(_BATCH)]
        )
    if len(images) != len(codes):
        raise ValueError(
            f"{caller}: decode must return one image per code, got {len(images)} "
            f"images of {len(codes)} codes."
        )
    if not bool(torch.isfinite(images).all()):
        raise ValueError(f"{caller}: decode returned NaN or infinity.")
    return images


def encode_images(
    caller: str, model: EncoderDecoder, images: torch.Tensor
) -> NDArray[np.float64]:
    """Encode images ``(n, ...)`` in batches, and return means ``(n, n_latents)``."""
    like = codes_as_tensor(model, np.empty(0))
    with evaluation_mode(model), torch.no_grad():
        parts = [
            model.encode(part.to(like.device, like.dtype))
            for part in images.split(_BATCH)
        ]
    means = [part if isinstance(part, torch.Tensor) else part.mean for part in parts]
    codes = torch.cat(means).double().cpu().numpy()
    if codes.ndim != 2 or len(codes) != len(images):
        raise ValueError(
            f"{caller}: encode must return codes of shape ({len(images)}, n_latents), "
            f"got {codes.shape}."
        )
    return codes
