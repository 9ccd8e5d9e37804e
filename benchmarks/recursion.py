"""What does rPU-VAE find on images with continuous factors, stage by stage?

Renders 3,000 images of a disc with continuous position and size, runs the recursion
once per seed, and prints a table with one line per seed: the number of images of each
stage, and the factors that it found. The factors are used only to name what a stage
found: each active latent is compared with every factor by the absolute rank correlation
over the images of the stage.

    python benchmarks/recursion.py --seeds 5 --out recursion
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from unbraid.evolution import SurrogateLabels, evolve
from unbraid.execution import InlineExecutor
from unbraid.studies import RunSpec

FACTORS = ("x", "y", "size")
IMAGE_SIZE = 16
LEAF_RUNS = 3

RANGES = {
    "training.batch_size": {"values": [64, 128], "least": 32, "whole": True},
    "training.learning_rate": {"values": [0.002, 0.004], "least": 0.001, "most": 0.008},
    "objective.beta": {"values": [0.5, 1, 2], "least": 0.25, "most": 2},
}


def render(n_images, seed=0):
    """Discs with soft edges, and their x, y and radius, all drawn uniformly."""
    generator = np.random.default_rng(seed)
    # Position varies more in x than in y, so that no rotation of the two is as good.
    low, high = np.array([[3.0, 5.0, 1.5], [13.0, 11.0, 3.5]])
    factors = generator.uniform(low, high, (n_images, len(FACTORS)))
    pixels = np.arange(IMAGE_SIZE) + 0.5
    x, y, radius = (column[:, None, None] for column in factors.T)
    distance = np.hypot(pixels[None, None, :] - x, pixels[None, :, None] - y)
    brightness = 1 / (1 + np.exp(2 * (distance - radius)))
    return (brightness * 255).round().astype(np.uint8), factors


def settings(data, seed, prefer):
    """A recursion small enough for a few minutes on one core."""
    population = {
        "size": 3,
        "models": 3,
        "generations": 6,
        "patience": 3,
        "change": 0.02,
        "images": 25_600,
        "ranges": RANGES,
    }
    return {
        "data": data,
        "objective": "beta_vae",
        "network": {"name": "dense", "widths": [64, 64]},
        "training": {"n_latents": 5},
        "seed": seed,
        "evolution": {
            "method": "recursive",
            "population": population,
            "final": {"size": 4, "generations": 4, "images": 25_600},
            "recursion": {
                "leaf_runs": LEAF_RUNS,
                "active": 0.5,
                "reduction": {"prefer": prefer},
            },
        },
    }


def found_factors(stage, populations, factors):
    """The factor that each active latent follows most, with its rank correlation."""
    if not stage.latents:
        return "nothing"
    labels = SurrogateLabels.load(populations / stage.population / "labels.npz")
    names = []
    for column in labels.values.T:
        ranks = [rankdata(column), *(rankdata(part) for part in factors[labels.rows].T)]
        match = np.abs(np.corrcoef(ranks)[0, 1:])
        best = int(match.argmax())
        names.append(f"{FACTORS[best]} {match[best]:.2f}")
    return ", ".join(sorted(names))


def describe(stages, populations, factors):
    """What the stages of one leaf run found, and how many images each had."""
    return "; ".join(
        f"{stage.images}: {found_factors(stage, populations, factors)}"
        for stage in stages
    )


def main():
    """Run the recursion for every seed and print what its stages found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="Number of seeds.")
    parser.add_argument("--first", type=int, default=0, help="First seed.")
    parser.add_argument("--images", type=int, default=3_000, help="Images to render.")
    parser.add_argument(
        "--prefer",
        default="median",
        choices=("median", "largest"),
        help="Interval rule.",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("recursion"), help="Folder of the results."
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    images, factors = render(options.images)
    file = (options.out / "discs.npz").resolve()
    np.savez(file, images=images, factors=factors)
    data = f"{file}:factor_names=[{', '.join(FACTORS)}]"
    leaves = [f"leaf {number}" for number in range(1, LEAF_RUNS + 1)]
    print(f"| seed | {' | '.join(['root', *leaves])} |")
    print("|---" * (LEAF_RUNS + 2) + "|")
    for seed in range(options.first, options.first + options.seeds):
        started = time.monotonic()
        spec = RunSpec.read(settings(data, seed, options.prefer), "recursion")
        folder = options.out / f"seed-{seed}-{options.prefer}"
        evolved = evolve(spec, folder, executor=InlineExecutor())
        cells = [
            describe(
                [stage for stage in evolved.stages if stage.name.startswith(name)],
                folder / "populations",
                factors,
            )
            for name in ("root", *leaves)
        ]
        print(f"| {seed} | {' | '.join(cells)} |", flush=True)
        print(f"seed {seed}: {time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
