"""Perceived distances of XYSquares against the published tables, and a learnt kernel.

Measures what docs/perceived-distances.md says: Tables 3.1, 4.2 and 6.1 of the
dissertation, which rule of drawing random pairs gives its random columns, how long
50,000 pairs per factor take, a learnt kernel of radius 31, and the two comparisons of
chapter 7. Each part is appended to a file of JSON lines when it is done, and the same
command goes on where it stopped.

    python benchmarks/perceived_distances.py results.jsonl [--pairs 50000] [--steps 999]
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data import Sprites2D, XYSquares
from unbraid.geometry import (
    PerceivedDistances,
    compare_factor_choices,
    compare_visibilities,
    learn_loss,
    perceived_distances,
)
from unbraid.models import load_likelihood, save_likelihood


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


def table_6_1(n_pairs: int) -> dict[str, Any]:
    """Losses by rule of drawing random pairs."""
    found = {}
    for loss in ("mse", "mse-gaussian", "mse-box"):
        for subset in (None, 16, 32, 64):
            started = time.perf_counter()
            distances = perceived_distances(
                XYSquares(), loss, n_pairs=n_pairs, subset_size=subset
            )
            seconds = round(time.perf_counter() - started, 1)
            found[f"{loss}, subsets of {subset or 'all'}"] = {
                **summary(distances),
                "seconds of all seven rows": seconds,
            }
    return found


def learnt(n_pairs: int, steps: int, place: Path) -> dict[str, Any]:
    """A kernel of radius 31, on the pairs of the box."""
    started = time.perf_counter()
    learnt_loss = learn_loss(XYSquares(), steps=steps, along_factors=0.7)
    seconds = round(time.perf_counter() - started, 1)
    path = save_likelihood(learnt_loss.likelihood, place)
    losses = {"learnt": load_likelihood(path), "box": "mse-box"}
    found: dict[str, Any] = {"seconds of learning": seconds, "steps": steps}
    for subset in (None, 32):
        for name, loss in losses.items():
            distances = perceived_distances(
                XYSquares(), loss, n_pairs=n_pairs, subset_size=subset, seed=1
            )
            found[f"{name}, subsets of {subset or 'all'}"] = summary(distances)
    return found


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
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--steps", type=int, default=1_000)
    arguments = parser.parse_args()

    n_pairs, results = arguments.pairs, arguments.results
    kernel = results.with_suffix(".kernel.json")
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "learnt kernel": lambda: learnt(n_pairs, arguments.steps, kernel),
        "table 6.1": lambda: table_6_1(n_pairs),
        "table 4.2": lambda: table_4_2(n_pairs),
        "chapter 7": lambda: chapter_7(min(n_pairs, 10_000)),
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
