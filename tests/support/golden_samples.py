"""Settings and calls of the golden samples, for the script that writes them and tests.

Only public names are used, so that the tests still run when the code is rearranged.
"""

import hashlib
from pathlib import Path

import numpy as np
import torch

import unbraid
from unbraid.data import open_dataset
from unbraid.models import Decay
from unbraid.models.networks import Dense
from unbraid.studies import study_from_plain
from unbraid.training import TraceSettings, specify, train_run

GOLDEN = Path(__file__).parents[1] / "golden"

SQUARES = "xy_squares:image_size=8,square_size=1,n_squares=1,rgb=false"
LAMPS = "lamps.npy"
LAMPS_DATA = f"{LAMPS}:channels_first=true"

SPEC = {
    "steps": 20,
    "batch_size": 8,
    "n_latents": 2,
    "network": Dense(widths=(8,)),
    "learning_rate": Decay(value=1e-2, share=0.5),
    "seed": 3,
}
RECORDING = {
    "device": "cpu",
    "log_every": 5,
    "traces": TraceSettings(n_observations=4, n_snapshots=3),
    "progress": False,
}
PAUSE = 10

STUDY = {
    "name": "golden",
    "data": SQUARES,
    "network": {"name": "dense", "widths": [8]},
    "training": {
        "steps": 20,
        "batch_size": 8,
        "n_latents": 2,
        "learning_rate": {"name": "decay", "value": 0.01},
        "log_every": 5,
    },
    "evaluation": {"metrics": ["mig", "active_units"], "rows": 64},
    "grid": {"objective.beta": [1, 4]},
}

SCALES = ("mini", "small", "paper")
FINGERPRINT = "0" * 64


def fit_squares(out):
    """Train the run of the samples, or continue it."""
    return unbraid.fit("beta_vae", SQUARES, out=out, **SPEC, **RECORDING)


def pause_squares(out):
    """Train the same run up to the step at which it pauses."""
    dataset = open_dataset(SQUARES)
    spec = specify("beta_vae", dataset, **SPEC)
    return train_run(spec, dataset, out=out, until=PAUSE, **RECORDING)


def encode_ramp(model):
    """Codes of an image whose pixels rise from 0 to 1."""
    shape = model.image_shape
    ramp = torch.linspace(0, 1, int(np.prod(shape))).reshape(1, *shape)
    with torch.no_grad():
        return model.encode(ramp).mean[0].tolist()


def hash_run_ids(preset, scale):
    """Number of runs of a preset, and one hash of all their ids in order."""
    study = study_from_plain({"preset": preset, "scale": scale})
    ids = [spec.id(FINGERPRINT) for spec in study.runs()]
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    return {"n_runs": len(ids), "sha256": digest}
