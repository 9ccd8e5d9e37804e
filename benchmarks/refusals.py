"""How often does ``discover`` refuse where there is nothing to choose?

Two kinds of trials. In ``untrained``, the best of four pairs of untrained encoders is
selected as a race would do, and two more encoders join it in the last round. In
``noise``, ``discover`` is called on images of independent pixels. It should refuse all.

    python benchmarks/refusals.py [--trials 40] [--only untrained | noise]
"""

import argparse
import os
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from discovery_sets import write_set

import unbraid
from unbraid.data import AbstractDataset, open_dataset
from unbraid.discovery import judge
from unbraid.representation import Representation
from unbraid.selection import measure_evidence, rank_models
from unbraid.studies import Preview
from unbraid.training import TrainingState, specify

SETS = ("blobs", "shapes", "discs", "squares")
N_ROWS, N_CONFIGURATIONS, N_SEEDS = 1_000, 4, 4
NOISE_BUDGET = "30s"
N_NOISE = 2_000


def refuse_untrained(data: AbstractDataset, seed: int) -> bool:
    """Return whether untrained encoders are refused, after a race between them."""
    rows = np.arange(0, len(data), len(data) // N_ROWS)[:N_ROWS]
    codes = [
        [
            _encode(
                data, rows, N_SEEDS * (N_CONFIGURATIONS * seed + configuration) + run
            )
            for run in range(N_SEEDS)
        ]
        for configuration in range(N_CONFIGURATIONS)
    ]
    previews = {
        str(number): [_preview(part) for part in own[:2]]
        for number, own in enumerate(codes)
    }
    standings = judge(previews, n_kept=1)
    kept = next(int(each.name) for each in standings if each.is_kept)
    return refuse_codes(codes[kept])


def refuse_codes(codes: list[Representation]) -> bool:
    """Return whether seeds of one configuration are refused by their codes."""
    names = [str(number) for number in range(len(codes))]
    evidence = measure_evidence(
        names, ["a"] * len(codes), codes, n_tried=N_CONFIGURATIONS
    )
    return rank_models(evidence).chosen is None


def refuse_noise(seed: int) -> bool:
    """Return whether ``discover`` refuses images of independent pixels."""
    pixels = np.random.default_rng(seed).integers(0, 256, (N_NOISE, 1, 12, 12))
    with tempfile.TemporaryDirectory() as folder:
        found = unbraid.discover(
            pixels.astype(np.uint8), Path(folder) / "out", budget=NOISE_BUDGET
        )
    return found.model is None


def _encode(data: AbstractDataset, rows: np.ndarray, seed: int) -> Representation:
    spec = specify("beta_tc_vae", data, steps=1, recipe="small", seed=seed)
    model = TrainingState.create(spec).model
    return unbraid.encode(model, data, rows=rows, progress=False)


def _preview(codes: Representation) -> Preview:
    fit = {"elbo": 0.0, "active_latents": float(codes.codes.shape[1])}
    return Preview(0, codes, fit)


def main() -> None:
    """Count refusals, and print them as they come."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--only", choices=["untrained", "noise"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        data = [open_dataset(write_set(name, Path(folder))) for name in SETS]
        trials = {
            "untrained": lambda k: refuse_untrained(data[k % len(SETS)], k),
            "noise": refuse_noise,
        }
        for name, refuse in trials.items():
            if options.only in (None, name):
                refused = 0
                for number in range(options.trials):
                    refused += refuse(number)
                    print(f"{name}: {refused} of {number + 1} refused", flush=True)


if __name__ == "__main__":
    main()
