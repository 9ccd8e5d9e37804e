"""Discoveries that take seconds: data that are easy, and plans that are short."""

import numpy as np

from unbraid.data import LabeledImages
from unbraid.discovery import Plan, Rung
from unbraid.discovery._data import read_source
from unbraid.studies import study_from_plain

SQUARES = "xy_squares:image_size=8,square_size=1,n_squares=1"


def lamps(n_levels=6):
    """Three lamps that light 36, 18 and 10 pixels, in every combination of levels."""
    axes = [np.arange(n_levels)] * 3
    levels = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    owner = np.repeat([0, 1, 2], [36, 18, 10]).reshape(8, 8)
    images = (levels * (255 // (n_levels - 1)))[:, owner].astype(np.uint8)
    return LabeledImages(images, levels, factor_names=["left", "middle", "right"])


def plan_small(
    folder, data=SQUARES, *, betas=(1, 4), steps=600, seeds=3, asked=None, **more
):
    """Put a plan into a folder that takes seconds, for discover to go on with."""
    source = read_source(data, folder / "data")
    metric = "mig" if source.dataset.factor_names else "active_units"
    training = {"steps": steps, "n_latents": 4, "learning_rate": 4e-3}
    plain = {
        "data": str(source.data),
        "objective": "beta_vae",
        "network": {"name": "dense", "widths": [64, 64]},
        "training": training | more,
        "evaluation": {"metrics": [metric]},
        "traces": {"n_observations": 32, "n_snapshots": min(6, steps + 1)},
        "grid": {"objective.beta": list(betas)},
        "seeds": seeds,
    }
    asked = {"seconds": asked, "seed": 0}
    study = study_from_plain(plain, "discovery")
    Plan(source.dataset.fingerprint(), asked, study, 1.0).write(folder)


def plan_race(folder, data, *, betas=(0.3, 1, 1_000), widths=(64, 64), asked=None):
    """Put the plan of a race into a folder that takes seconds, with three rounds."""
    source = read_source(data, folder / "data")
    plain = {
        "data": str(source.data),
        "network": {"name": "dense", "widths": list(widths)},
        "training": {
            "steps": 800,
            "n_latents": 4,
            "learning_rate": {"name": "decay", "value": 4e-3},
        },
        "evaluation": {"metrics": ["active_units"]},
        "traces": {"n_observations": 32, "n_snapshots": 6},
        "zip": [{"objective": [{"name": "beta_vae", "beta": beta} for beta in betas]}],
        "seeds": [0, 1, 2],
    }
    rungs = [
        Rung(steps=steps, n_configurations=n, n_seeds=n_seeds, seconds=1.0)
        for steps, n, n_seeds in ((200, 3, 2), (400, 2, 3), (800, 1, 3))
    ]
    Plan(
        source.dataset.fingerprint(),
        {"seconds": asked, "seed": 0},
        study_from_plain(plain, "discovery"),
        3.0,
        tuple(rungs),
    ).write(folder)
