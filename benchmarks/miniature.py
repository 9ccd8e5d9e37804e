"""What each method makes of miniatures: distances, axes, and weak supervision.

XYSquares with squares of 1x1 pixels in images of 8x8 has the same constant overlap as
squares of 8x8 in 64x64: to a pixel loss, all positions are equally far apart. XYObject
at 16x16 has overlap; pairs of it differ in one factor. Every run is 3 seeds, scores are
those of the whole grid (axis alignment) and of 20,000 rows of it (MIG).

    python benchmarks/miniature.py RESULTS.jsonl [--workers 2]

Results are added to the file as they come; what is there is not run again.
"""

import argparse
import json
import os
import statistics
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

SEEDS = (0, 1, 2)
STEPS = 6_000


def settings() -> dict[str, dict]:
    """Name of each setting, and what is special about it."""
    squares = {"data": "squares", "likelihood": "gaussian"}
    blurred = {"data": "squares", "likelihood": "kernel"}
    moving = {"data": "object", "likelihood": "gaussian"}
    return {
        "squares, beta-VAE": {**squares, "objective": "beta_vae", "beta": 1e-3},
        "squares, Ada-GVAE": {**squares, "objective": "ada_gvae", "beta": 1e-3},
        "squares, Ada-TVAE": {**squares, "objective": "ada_tvae", "beta": 1e-2},
        "squares, beta-VAE, kernel": {
            **blurred,
            "objective": "beta_vae",
            "beta": 1e-2,
        },
        "squares, Ada-GVAE, kernel": {
            **blurred,
            "objective": "ada_gvae",
            "beta": 1e-2,
        },
        "object, beta-VAE": {**moving, "objective": "beta_vae", "beta": 1e-2},
        "object, Ada-GVAE": {
            **moving,
            "objective": "ada_gvae",
            "beta": 1e-2,
            "n_changed": 1,
        },
    }


def run(name: str, seed: int) -> dict:
    """Train and score one model in this process."""
    import numpy as np
    import torch

    from unbraid.data import XYObject, XYSquares
    from unbraid.metrics import Factors, axis_alignment_ratio, mutual_information_gap
    from unbraid.models import Gaussian, KernelAugmented
    from unbraid.models.objectives import OBJECTIVES
    from unbraid.representation import encode
    from unbraid.training import fit, keep_freed_memory

    torch.set_num_threads(1)
    keep_freed_memory()
    setting = settings()[name]
    dataset = XYSquares(square_size=1, image_size=8)
    if setting["data"] == "object":
        dataset = XYObject(image_size=16, square_sizes=(3, 5, 7), spacing=1)
    likelihood = (
        Gaussian() if setting["likelihood"] == "gaussian" else KernelAugmented()
    )
    options = {key: setting[key] for key in ("beta", "n_changed") if key in setting}
    objective = OBJECTIVES[setting["objective"]](**options, scale="mean")
    trained = fit(
        objective,
        dataset,
        steps=STEPS,
        batch_size=64,
        n_latents=9,
        network="dense",
        likelihood=likelihood,
        standardize=True,
        learning_rate=1e-3,
        seed=seed,
        progress=False,
    )
    codes = encode(trained.model, dataset, batch_size=4096, progress=False)
    factors = Factors(codes.factors, names=codes.factor_names, kinds=codes.factor_kinds)
    some = np.random.default_rng(0).permutation(len(dataset))[:20_000]
    return {
        "setting": name,
        "seed": seed,
        "steps": STEPS,
        "axis_alignment": float(axis_alignment_ratio(codes.codes, factors)),
        "mig": float(mutual_information_gap(codes.codes[some], factors.at(some))),
    }


def print_table(results: list[dict]) -> None:
    """Means over seeds."""
    print(f"{'':<28}{'seeds':>6}{'axis alignment':>16}{'MIG':>8}{'each':>24}")
    for name in settings():
        rows = [result for result in results if result["setting"] == name]
        if not rows:
            continue
        axes = statistics.mean(row["axis_alignment"] for row in rows)
        gaps = [row["mig"] for row in rows]
        each = ", ".join(f"{gap:.3f}" for gap in gaps)
        mean = statistics.mean(gaps)
        print(f"{name:<28}{len(rows):>6}{axes:>16.3f}{mean:>8.3f}{each:>24}")


def main() -> None:
    """Run what is missing, and print what there is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    lines = []
    if arguments.results.exists():
        lines = arguments.results.read_text().splitlines()
    results = [json.loads(line) for line in lines]
    done = {(result["setting"], result["seed"]) for result in results}
    # All settings with the first seed first, so that a table is there early.
    missing = [
        (name, seed)
        for seed in SEEDS
        for name in settings()
        if (name, seed) not in done
    ]
    with ProcessPoolExecutor(arguments.workers) as pool:
        jobs = [pool.submit(run, name, seed) for name, seed in missing]
        for job in as_completed(jobs):
            results.append(job.result())
            with arguments.results.open("a") as file:
                file.write(json.dumps(results[-1]) + "\n")
    print_table(results)


if __name__ == "__main__":
    main()
