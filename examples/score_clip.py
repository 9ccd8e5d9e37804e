"""Score the vision encoder of CLIP on the sprites.

    python examples/score_clip.py --weights openai/clip-vit-base-patch32
    python examples/score_clip.py            # a small, randomly initialized one

Needs `pip install transformers`. For timm, pass `timm.create_model(name,
pretrained=True, num_classes=0)` in place of the CLIP model; for open_clip, pass its
`model.encode_image`. Both take images preprocessed as below, with the mean,
standard deviation and size of their own configuration.
"""

import argparse

import torch
from transformers import CLIPVisionConfig, CLIPVisionModel

import unbraid
from unbraid.data import ColoredSprites
from unbraid.foundation import numpy_generator

# Channel statistics of CLIP.
MEAN = torch.tensor([0.48145466, 0.4578275, 0.40821073])[:, None, None]
DEVIATION = torch.tensor([0.26862954, 0.26130258, 0.27577711])[:, None, None]


def load(weights: str | None) -> CLIPVisionModel:
    """Load published weights, or build a small random network."""
    if weights is not None:
        return CLIPVisionModel.from_pretrained(weights)
    small = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=64,
        patch_size=16,
    )
    torch.manual_seed(0)
    return CLIPVisionModel(small)


def main() -> None:
    """Encode some images and print the scorecard."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", help="a name on the hub, or a folder")
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--metrics", default="standard")
    arguments = parser.parse_args()

    model = load(arguments.weights).eval()
    side = model.config.image_size

    def encoder(images: torch.Tensor) -> torch.Tensor:
        resized = torch.nn.functional.interpolate(
            images, (side, side), mode="bicubic", antialias=True
        )
        return model(pixel_values=(resized - MEAN) / DEVIATION).pooler_output

    sprites = ColoredSprites()
    rows = numpy_generator(0, "clip").integers(0, len(sprites), arguments.images)
    codes = unbraid.encode(encoder, sprites, rows=rows, batch_size=64)
    print(unbraid.evaluate(codes, metrics=arguments.metrics))


if __name__ == "__main__":
    main()
