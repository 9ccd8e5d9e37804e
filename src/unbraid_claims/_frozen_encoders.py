"""MIG of frozen encoders, pretrained or untrained."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from unbraid import encode, evaluate
from unbraid.data import AbstractDataset
from unbraid.foundation import numpy_generator
from unbraid.models import Bernoulli, build_model
from unbraid.models.networks import Dense

PUBLISHED = (
    "openai/clip-vit-base-patch32",
    "openai/clip-vit-base-patch16",
    "openai/clip-vit-large-patch14",
)
"""Vision encoders of increasing size, by their names on the Hugging Face hub."""

_MEAN = (0.48145466, 0.4578275, 0.40821073)
_DEVIATION = (0.26862954, 0.26130258, 0.27577711)

Encoder = Callable[[torch.Tensor], torch.Tensor]


def gap_of(encoder: Encoder, data: AbstractDataset, *, n_rows: int) -> float:
    """Return the MIG of an encoder on random images of a dataset."""
    rows = numpy_generator(0, "frozen encoders").permutation(len(data))[:n_rows]
    codes = encode(encoder, data, rows=np.sort(rows), batch_size=64, progress=False)
    card = evaluate(codes, metrics="mig", intervals=False, levels=False, progress=False)
    return float(card["mig"])


def untrained_gap(
    data: AbstractDataset, width: int, *, n_latents: int, seed: int, n_rows: int
) -> float:
    """Return the MIG of a randomly initialized dense encoder."""
    model = build_model(
        Dense(widths=(width, width)),
        image_shape=data.image_shape,
        n_latents=n_latents,
        likelihood=Bernoulli(),
        seed=seed,
    )
    return gap_of(model, data, n_rows=n_rows)


def published_encoders() -> Iterator[tuple[str, int, Encoder]]:
    """Yield the CLIP vision encoders whose weights are on this machine.

    Nothing is downloaded. Use `huggingface-cli download NAME` to get the weights.

    Yields:
        Name, number of weights, and a function from images to embeddings.
    """
    try:
        from transformers import CLIPVisionModelWithProjection
    except ImportError:
        return
    for name in PUBLISHED:
        try:
            model = CLIPVisionModelWithProjection.from_pretrained(
                name, local_files_only=True
            ).eval()
        except OSError:
            continue
        n_weights = sum(weight.numel() for weight in model.parameters())
        side: Any = model.config.image_size
        yield name, n_weights, _with_clip_preprocessing(model, int(side))


def _with_clip_preprocessing(model: torch.nn.Module, side: int) -> Encoder:
    mean = torch.tensor(_MEAN)[:, None, None]
    deviation = torch.tensor(_DEVIATION)[:, None, None]

    def embed(images: torch.Tensor) -> torch.Tensor:
        resized = torch.nn.functional.interpolate(
            images.expand(-1, 3, -1, -1), (side, side), mode="bicubic", antialias=True
        )
        return model(pixel_values=(resized - mean) / deviation).image_embeds

    return embed
