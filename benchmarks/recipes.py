"""What makes a single run good in little time?

Trains variants of a recipe on the sets of ``discovery_sets.py`` that are not held out,
each for the same processor time, and scores the codes with labels. A variant differs
from ``base`` in one thing. ``base`` is what ``discover`` trains: the recipe ``"small"``
and 0.6 of what the data can bear, relaxed to a quarter from 40% to 70% of the run.

    python benchmarks/recipes.py OUT [--variants base dense ...] [--seconds 20]

Results are written to OUT as they come, one file per run; what is there is not run
again. The last lines are a table of means over sets, MIG / DCI disentanglement.
"""

import argparse
import json
import os
from collections import defaultdict
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from discovery import score_codes
from discovery_sets import HELD_OUT, REFUSED, SETS, make_set, write_set

import unbraid
from unbraid.data import AbstractDataset, open_dataset
from unbraid.discovery import bearable_strength
from unbraid.execution import count_cores
from unbraid.models import (
    AbstractLikelihood,
    Bernoulli,
    Decay,
    Gaussian,
    Linear,
    Number,
)
from unbraid.models.networks import AbstractNetwork, Convolutional, Dense, Separable
from unbraid.models.objectives import BetaTCVAE
from unbraid.training import (
    choose_recipe,
    keep_freed_memory,
    measure_training,
    specify,
)

TUNED = tuple(name for name in SETS if name not in (*HELD_OUT, *REFUSED))


@dataclass(frozen=True)
class Variant:
    """Settings of a run.

    Attributes:
        strength: Beta of beta-TCVAE, or its share of what the data can bear.
        eigenvalue: Eigenvalue that the share refers to, counted from 1, the largest;
            ``None`` if the strength is beta itself.
        relaxed: Share of the strength that is left after its fall, which ends at 70% of
            the run; 1 if it does not change.
        fall: Share of the run that the fall takes.
        network: Encoder and decoder; ``None`` for those of the recipe.
        likelihood: How images are compared with reconstructions.
        learning_rate: Learning rate, a number or a schedule.
        batch_size: Images per step.
        n_latents: Length of a code.
        is_rising: Whether beta rises from 1 over the first half of the run, instead of
            being relaxed.
        length: Length of the run as a multiple of ``--seconds``.
    """

    strength: float = 0.6
    eigenvalue: int | None = 3
    relaxed: float = 0.25
    fall: float = 0.3
    network: AbstractNetwork | None = None
    likelihood: AbstractLikelihood = Bernoulli()
    learning_rate: Number = Decay(value=1e-3)
    batch_size: int = 64
    n_latents: int = 10
    is_rising: bool = False
    length: float = 1.0


BASE = Variant()
VARIANTS = {
    "base": BASE,
    **{f"share {s:g}": replace(BASE, strength=s) for s in (0.15, 0.3, 1.2, 2.4)},
    **{
        f"beta {b:g}": replace(BASE, strength=b, eigenvalue=None)
        for b in (2.0, 4.0, 8.0, 16.0)
    },
    "largest eigenvalue, share 0.4": replace(BASE, strength=0.4, eigenvalue=1),
    "constant beta": replace(BASE, relaxed=1.0),
    "constant beta, half": replace(BASE, strength=0.3, relaxed=1.0),
    "relaxed to a tenth": replace(BASE, relaxed=0.1),
    "relaxed to a half": replace(BASE, relaxed=0.5),
    "relaxed from the start": replace(BASE, fall=0.7),
    "rising": replace(BASE, is_rising=True),
    "dense": replace(BASE, network=Dense(widths=(128, 128))),
    "dense256": replace(BASE, network=Dense(widths=(256, 256))),
    "convolutional": replace(BASE, network=Convolutional(n_filters=16, n_units=128)),
    "64 units, rank 32": replace(BASE, network=Separable(n_units=64, rank=32)),
    "16 units, rank 8": replace(BASE, network=Separable(n_units=16, rank=8)),
    "gaussian": replace(BASE, likelihood=Gaussian(variance=0.05)),
    "constant rate": replace(BASE, learning_rate=1e-3),
    "rate 0.002": replace(BASE, learning_rate=Decay(value=2e-3)),
    "batch 32": replace(BASE, batch_size=32),
    "batch 128": replace(BASE, batch_size=128),
    "6 latents": replace(BASE, n_latents=6),
    "four times as long": replace(BASE, length=4.0),
}


def measure(task: tuple[str, str, int, float, Path]) -> None:
    """Train and score one run, and write the result."""
    variant_name, set_name, seed, seconds, out = task
    variant = VARIANTS[variant_name]
    torch.set_num_threads(1)
    keep_freed_memory()
    made, text = make_set(set_name), write_set(set_name, out / "sets")
    data = open_dataset(text)
    settings: dict[str, Any] = {
        "network": variant.network or choose_recipe("small", data.image_shape).network,
        "likelihood": variant.likelihood,
        "learning_rate": variant.learning_rate,
        "batch_size": variant.batch_size,
        "n_latents": variant.n_latents,
        "seed": seed,
    }
    objective = BetaTCVAE(beta=choose_beta(variant, data))
    timed = specify(objective, data, steps=1_000, **settings)
    per_step = measure_training(timed, data).per_step
    steps = max(100, int(variant.length * seconds / per_step))
    run = unbraid.fit(
        objective, data, steps=steps, device="cpu", progress=False, **settings
    )
    row = {"variant": variant_name, "set": set_name, "seed": seed, "steps": steps}
    path = result_path(task)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(row | score_codes(run.model, made, data)) + "\n")
    part.replace(path)


def choose_beta(variant: Variant, data: AbstractDataset) -> Number:
    """Return beta of a variant: a number or a schedule, never below 1 for a share."""
    beta = variant.strength
    if variant.eigenvalue is not None:
        beta = max(1.0, beta * bearable_strength(data, variant.eigenvalue))
    if variant.is_rising:
        return Linear(start=1.0, end=beta, share=0.5)
    end = max(1.0, variant.relaxed * beta)
    if end >= beta:
        return beta
    return Decay(value=beta, end=end, share=variant.fall, until=0.7)


def result_path(task: tuple[str, str, int, float, Path]) -> Path:
    """Return the file of a result."""
    variant, name, seed, seconds, out = task
    folder = variant.replace(",", "").replace(" ", "_")
    return out / f"{seconds:g}s" / folder / f"{name}-{seed}.json"


def summarize(rows: list[dict[str, Any]]) -> str:
    """Format the means of each variant as a Markdown table, one column per set."""
    sets = [name for name in TUNED if any(row["set"] == name for row in rows)]
    lines = ["| variant | mean | " + " | ".join(sets) + " | runs |"]
    lines.append("|---" * (len(sets) + 3) + "|")
    for variant in dict.fromkeys(row["variant"] for row in rows):
        cells = defaultdict(list)
        for row in rows:
            if row["variant"] == variant:
                cells[row["set"]].append((row["mig"], row["dci"]))
        means = {name: np.mean(values, axis=0) for name, values in cells.items()}
        parts = [np.mean(list(means.values()), axis=0)]
        parts += [means.get(name, [np.nan, np.nan]) for name in sets]
        texts = [f"{mig:.2f} / {dci:.2f}" for mig, dci in parts]
        n_runs = sum(map(len, cells.values()))
        lines.append(f"| {variant} | {' | '.join(texts)} | {n_runs} |")
    return "\n".join(lines)


def main() -> None:
    """Measure what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="folder for all results")
    parser.add_argument(
        "--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS)
    )
    parser.add_argument("--sets", nargs="+", choices=TUNED, default=list(TUNED))
    parser.add_argument("--seeds", type=int, default=3, help="runs of each variant")
    parser.add_argument("--seconds", type=float, default=20.0, help="per run")
    options = parser.parse_args()
    tasks = [
        (variant, name, seed, options.seconds, options.out)
        for seed in range(options.seeds)
        for variant in options.variants
        for name in options.sets
    ]
    missing = [task for task in tasks if not result_path(task).is_file()]
    with get_context("spawn").Pool(count_cores()) as pool:
        for _ in pool.imap_unordered(measure, missing):
            pass
    done = [result_path(task) for task in tasks]
    print(summarize([json.loads(path.read_text()) for path in done]))


if __name__ == "__main__":
    main()
