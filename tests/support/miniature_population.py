"""A population that takes a second, as plain data."""

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1,rgb=false"

RANGES = {
    "training.batch_size": {"values": [8, 16], "most": 64, "whole": True},
    "training.learning_rate": {"values": [0.001, 0.01], "most": 0.05},
    "objective.beta": {"values": [0.5, 1.0, 2.0]},
}

PLAIN = {
    "data": DATA,
    "objective": "beta_tc_vae",
    "network": {"name": "dense", "widths": [16]},
    "training": {"n_latents": 3, "batch_size": 16},
    "evaluation": {"metrics": ["mig"], "rows": 64},
    "seed": 1,
}


def population(method="supervised", *, evolution=None, **changes):
    """Settings of a run that is a population; parts of them can be changed."""
    own = {"size": 4, "generations": 3, "images": 200, "ranges": RANGES}
    models = {} if method == "supervised" else {"models": 3}
    evolved = {
        "method": method,
        "population": {**own, **models, **changes},
        **(evolution or {}),
    }
    return {**PLAIN, "evolution": evolved}
