"""Populations of trained models, on which label-free scores are compared.

Two kinds. In ``good``, each of the sets of ``discovery_sets.py`` named here has four
configurations with ten seeds, from far too weak to far too strong, so that the models
differ in quality. In ``null``, models are trained on images that are random mixtures of
equally strong patterns: their factors can be rotated freely, so that no axis means
anything, and refusing to choose is right.

    python benchmarks/choice_population.py OUT [--sets blobs ...] [--null 50]

Runs are ordinary studies, ``OUT/good/SET`` and ``OUT/null/NUMBER``, on all cores. What
is trained is not trained again. ``choice_evidence.py`` reads them.
"""

import argparse
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from discovery_sets import write_set

from unbraid.data import open_dataset
from unbraid.discovery import bearable_strength
from unbraid.execution import LocalExecutor
from unbraid.studies import StudyFolder, run_study, study_from_plain

GOOD_SETS = ("blobs", "shapes", "dials", "discs", "digits", "squares")
CONFIGURATIONS = (
    ("beta_vae", 0.02),
    ("beta_vae", 0.2),
    ("beta_tc_vae", 0.2),
    ("beta_tc_vae", 0.8),
)
"""Objectives, and their strength as a share of what the data can bear."""

N_SEEDS, STEPS = 10, 8_000
N_NULL, NULL_CONFIGURATIONS = 50, (("beta_tc_vae", 0.1), ("beta_tc_vae", 0.4))
NULL_SEEDS, NULL_STEPS, NULL_PATTERNS, NULL_IMAGES = 3, 1_200, 4, 4_000


def describe_study(
    data: str, configurations: tuple[tuple[str, float], ...], n_seeds: int, steps: int
) -> dict[str, Any]:
    """Return a study of these configurations, as in a study file."""
    dataset = open_dataset(data)
    bearable = bearable_strength(dataset, n_latents=1)
    objectives = [
        {"name": name, "beta": _beta(name, share * bearable)}
        for name, share in configurations
    ]
    wide = np.prod(dataset.image_shape) > 768
    return {
        "name": "choice",
        "data": data,
        "network": {"name": "dense", "widths": [256, 256] if wide else [128, 128]},
        "training": {
            "steps": steps,
            "n_latents": 10,
            "batch_size": 64,
            "learning_rate": {"name": "decay", "value": 1e-3},
        },
        "evaluation": {"metrics": ["active_units"], "rows": 2_000},
        "traces": {"n_observations": 64, "n_snapshots": 20},
        "zip": [{"objective": objectives}],
        "seeds": n_seeds,
    }


def _beta(name: str, strength: float) -> float:
    # Below 1, beta-TCVAE would weigh the total correlation less than a plain VAE.
    least = 1.0 if name == "beta_tc_vae" else 0.01
    return max(least, float(f"{strength:.2g}"))


def train(described: dict[str, Any], folder: Path) -> None:
    """Train what is missing of a study."""
    study = study_from_plain(described, str(folder))
    result = run_study(study, StudyFolder(folder), executor=LocalExecutor())
    print(f"{folder}: {result.done} done, {result.failed} failed", flush=True)


def write_null(number: int, folder: Path) -> str:
    """Write images that are mixtures of equally strong patterns, and return the path.

    The images are a gray ground plus four orthonormal smooth patterns with independent
    normal weights of one variance, so that every rotation of the weights is as good a
    description.
    """
    path = folder / f"{number}.npy"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        generator = np.random.default_rng([20261118, number])
        frequencies = generator.normal(size=(NULL_PATTERNS, 3, 3))
        angles = np.pi * (np.arange(12) + 0.5) / 12
        basis = np.cos(np.arange(1, 4)[:, None] * angles)
        patterns = np.einsum("kab,ai,bj->kij", frequencies, basis, basis)
        flat = np.linalg.qr(patterns.reshape(NULL_PATTERNS, -1).T)[0].T
        weights = generator.normal(size=(NULL_IMAGES, NULL_PATTERNS))
        images = 0.5 + 1.2 * (weights @ flat).reshape(-1, 12, 12)
        pixels = np.round(255 * np.clip(images, 0, 1)).astype(np.uint8)
        np.save(path, pixels[..., None])
    return str(path)


def main() -> None:
    """Train all populations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="folder for all runs")
    parser.add_argument("--sets", nargs="*", choices=GOOD_SETS, default=GOOD_SETS)
    parser.add_argument("--null", type=int, default=N_NULL, help="null populations")
    options = parser.parse_args()
    for name in options.sets:
        data = write_set(name, options.out / "sets")
        described = describe_study(data, CONFIGURATIONS, N_SEEDS, STEPS)
        train(described, options.out / "good" / name)
    for number in range(options.null):
        data = write_null(number, options.out / "sets" / "null")
        described = describe_study(data, NULL_CONFIGURATIONS, NULL_SEEDS, NULL_STEPS)
        train(described, options.out / "null" / str(number))


if __name__ == "__main__":
    main()
