"""How often intervals hold a fresh evaluation, on codes of known quality.

Each trial draws fresh rows (and noise), scores them with intervals, and asks whether
the interval holds the score of the next trial: other rows, another seed. Intervals
claim 95 in 100. Next to that count stand the share over all pairs of trials, which is
the same question asked more often, and the mean width, since wide intervals hold
anything.

The grid is a coarse one of 3 shapes, 3 scales, 8 orientations and 8 x 8 positions, and
DCI is measured on fewer rows, so that hundreds of trials take an hour.

Results are appended to a file as they come; the same command goes on where it stopped.

    python benchmarks/intervals.py results.jsonl [--trials 100] [--groups dci]
"""

import argparse
import itertools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

import unbraid
from unbraid.data import FactorSpace, Sprites2D
from unbraid.foundation import numpy_generator
from unbraid.metrics import Factors

SPRITES = Sprites2D(image_size=32, n_scales=3, n_orientations=8, n_positions=8)
# Metrics that are evaluated at once, and on how many rows.
GROUPS = {
    "quick": ("mig,sap,modularity,explicitness,irs", 3000),
    "resampling": ("beta_vae_score,factor_vae_score", 3000),
    "dci": ("dci", 1000),
}
SETTINGS = ("pca of sprites", "noisy", "mixed", "rotated")
N_LATENTS = 10


def constructed(
    name: str, space: FactorSpace, rows: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Codes of rows of a grid, with noise of their own."""
    scaled = 2.0 * space.factors(rows) / (np.array(space.sizes) - 1) - 1.0
    noise = generator.standard_normal((len(rows), N_LATENTS))
    k = space.n_factors
    if name == "mixed":
        mixing = numpy_generator(0, "mixing").standard_normal((k, N_LATENTS))
        return scaled @ mixing + 0.1 * noise
    codes = 0.01 * noise  # dead latents: a whiff of noise
    if name == "noisy":
        codes[:, :k] = scaled + 0.3 * noise[:, :k]
    else:  # by 45 degrees in the planes of shape and scale, orientation and position
        turned = np.kron(np.eye(k // 2), np.array([[1, 1], [-1, 1]]) / np.sqrt(2))
        codes[:, : k - 1] += scaled[:, : k - 1] @ turned
        codes[:, k - 1] += scaled[:, k - 1]
    return codes


def fitted_pca() -> PCA:
    """PCA of 5,000 images, the same in every trial."""
    rows = numpy_generator(0, "pca").integers(0, len(SPRITES), 5000)
    images = SPRITES.images(rows).reshape(len(rows), -1) / 255
    return PCA(N_LATENTS, random_state=0).fit(images)


def trial(setting: str, number: int, group: str, pca: PCA) -> list[Any]:
    """Scores of a fresh sample, as ``[metric, value, low, high]``."""
    metrics, n_rows = GROUPS[group]
    generator = numpy_generator(number, "trial", setting, group)
    rows = generator.integers(0, len(SPRITES), n_rows)
    if setting in SETTINGS[1:]:
        codes = constructed(setting, SPRITES.factor_space, rows, generator)
    else:
        codes = unbraid.encode(pca, SPRITES, rows=rows).codes
    factors = Factors(
        SPRITES.factors(rows), names=SPRITES.factor_names, kinds=SPRITES.factor_kinds
    )
    # Replicates take the seeds that follow: keep those of trials apart.
    card = unbraid.evaluate(
        codes, factors, metrics=metrics, seed=100 * number, levels=False, n_jobs=1
    )
    return [
        [score.name, float(score), *(score.interval or ())] for score in card.scores
    ]


def report(path: Path) -> None:
    """Print coverage and width of every metric and setting."""
    results: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(dict)
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        for metric, *numbers in entry["scores"]:
            results[metric, entry["setting"]][entry["trial"]] = numbers
    print(f"{'':<22}{'':<16}{'value':>8}{'width':>8}{'inside':>8}{'of':>5}{'pairs':>8}")
    for (metric, setting), trials in sorted(results.items()):
        value, low, high = np.array([trials[i] for i in sorted(trials)]).T
        inside = (low[:, None] <= value) & (value <= high[:, None])
        n = len(value)
        following = inside[np.arange(n), (np.arange(n) + 1) % n].sum()
        pairs = (inside.sum() - np.trace(inside)) / (n * (n - 1))
        print(
            f"{metric:<22}{setting:<16}{value.mean():>8.3f}{(high - low).mean():>8.3f}"
            f"{following:>8}{n:>5}{100 * pairs:>7.0f}%"
        )


def main() -> None:
    """Run the trials that are missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument("--report", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    path: Path = arguments.path
    path.touch()
    lines = map(json.loads, path.read_text().splitlines())
    done = {(line["setting"], line["trial"], line["group"]) for line in lines}
    pca = fitted_pca()
    wanted = itertools.product(range(arguments.trials), arguments.groups, SETTINGS)
    for number, group, setting in wanted:
        if arguments.report or (setting, number, group) in done:
            continue
        scores = trial(setting, number, group, pca)
        entry = {"setting": setting, "trial": number, "group": group}
        with path.open("a") as file:
            file.write(json.dumps({**entry, "scores": scores}) + "\n")
    report(path)


if __name__ == "__main__":
    main()
