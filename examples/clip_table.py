"""Does CLIP disentangle more the larger it is? Published and measured scores.

    python examples/clip_table.py --data dsprites
    python examples/clip_table.py --random --images 200    # random weights

Needs `pip install 'unbraid[clip]'`, and the published weights in the cache of the
Hugging Face hub, for example by `hf download timm/resnet50_clip.openai`. Encoders
without weights are listed as not measured.
"""

import argparse

from unbraid_claims import list_clip_encoders, score_encoders


def main() -> None:
    """Score the five encoders and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default="sprites2d", help="dataset with factors")
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--random", action="store_true", help="use random weights")
    parser.add_argument("--package", help="open_clip, timm or transformers")
    arguments = parser.parse_args()
    encoders = list_clip_encoders(
        pretrained=not arguments.random, package=arguments.package
    )
    print(score_encoders(encoders, arguments.data, n_rows=arguments.images))


if __name__ == "__main__":
    main()
