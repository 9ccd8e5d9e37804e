"""Perceived distances of XYSquares against the published tables, and learned kernels.

Measures what docs/perceived-distances.md says: Tables 3.1, 4.2 and 6.1 of the
dissertation, which rule of drawing random pairs gives its random columns, how long
50,000 pairs per factor take, learned kernels of radius 31, 47, 63 and 64, and the two
comparisons of chapter 7. Each part is appended to a file of JSON lines when it is done,
and the same command goes on where it stopped.

    python benchmarks/perceived_distances.py results.jsonl [--pairs 10000] [--steps 400]
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data import Sprites2D, XYSquares
from unbraid.models import save_likelihood
from unbraid.perception import (
    PerceivedDistances,
    compare_factor_choices,
    compare_visibilities,
    learn_loss,
    perceived_distances,
)

RADII = (31, 47, 63, 64)


def summary(found: PerceivedDistances) -> dict[str, Any]:
    """Means over factors, and random pairs."""
    names = ("mean", "std", "linear", "rank")
    factors = {
        name: round(float(np.mean([getattr(row, name) for row in found.factors])), 4)
        for name in names
    }
    random = {name: round(getattr(found.random, name), 4) for name in names}
    return {"factors": factors, "random": random}


def per_factor(found: dict[str, PerceivedDistances]) -> dict[str, Any]:
    """Rows of several datasets, rounded."""
    return {
        name: [
            {
                key: round(value, 4) if isinstance(value, float) else value
                for key, value in row.items()
            }
            for row in each.to_plain()
        ]
        for name, each in found.items()
    }


def table_4_2(n_pairs: int) -> dict[str, Any]:
    """Spacing 1 to 8, squared error and box."""
    return {
        f"spacing {spacing}, {loss}": summary(
            perceived_distances(XYSquares(spacing=spacing), loss, n_pairs=n_pairs)
        )
        for spacing in range(1, 9)
        for loss in ("mse", "mse-box")
    }


def speed() -> dict[str, Any]:
    """Seconds of 50,000 pairs for each of the six factors and random pairs."""
    seconds = {}
    for loss in ("mse", "mse-box"):
        started = time.perf_counter()
        perceived_distances(XYSquares(), loss, n_pairs=50_000)
        seconds[loss] = round(time.perf_counter() - started, 1)
    return seconds


def table_6_1(n_pairs: int, learned: dict[str, Path]) -> dict[str, Any]:
    """Losses by rule of drawing random pairs, all on the same pairs."""
    losses = {"mse": "mse", "mse-gaussian": "mse-gaussian", "mse-box": "mse-box"}
    return {
        f"{name}, subsets of {subset or 'all'}": summary(
            perceived_distances(
                XYSquares(), loss, n_pairs=n_pairs, subset_size=subset, seed=1
            )
        )
        for subset in (None, 32, 16, 64)
        for name, loss in (*losses.items(), *learned.items())
        if subset in (None, 32) or name == "mse"
    }


def learning(radius: int, steps: int, path: Path) -> dict[str, Any]:
    """Learn a kernel and save it."""
    started = time.perf_counter()
    learned = learn_loss(XYSquares(), radius=radius, steps=steps, along_factors=0.7)
    seconds = round(time.perf_counter() - started, 1)
    save_likelihood(learned.likelihood, path)
    return {"seconds": seconds, "steps": steps, "weight": learned.likelihood.weight}


def chapter_7(n_pairs: int) -> dict[str, Any]:
    """Colour as one factor or two; pictures behind and inside of sprites."""
    choices = per_factor(compare_factor_choices(n_pairs=n_pairs))
    sprites = Sprites2D()
    return choices | {
        f"{where} {percent}": rows
        for where in ("behind", "inside")
        for percent, rows in per_factor(
            compare_visibilities(sprites, where=where, n_pairs=n_pairs)
        ).items()
    }


def main() -> None:
    """Measure what is not in the file yet."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=400)
    arguments = parser.parse_args()

    n_pairs, results = arguments.pairs, arguments.results
    kernels = {
        radius: results.with_suffix(f".kernel-{radius}.json") for radius in RADII
    }
    learned = {f"learned, radius {radius}": path for radius, path in kernels.items()}
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        f"learning, radius {radius}": lambda radius=radius, path=path: learning(
            radius, arguments.steps, path
        )
        for radius, path in kernels.items()
    }
    parts |= {
        "table 6.1": lambda: table_6_1(n_pairs, learned),
        "table 4.2": lambda: table_4_2(n_pairs),
        "chapter 7": lambda: chapter_7(n_pairs // 2),
        "speed": speed,
    }
    lines = results.read_text().splitlines() if results.exists() else []
    done = {json.loads(line)["part"] for line in lines}
    for part, measure in parts.items():
        if part in done:
            continue
        started = time.perf_counter()
        found = measure()
        line = {"part": part, "seconds": round(time.perf_counter() - started, 1)}
        with results.open("a") as file:
            file.write(json.dumps(line | {"found": found}) + "\n")
        print(part, json.dumps(found, indent=1), flush=True)


if __name__ == "__main__":
    main()
