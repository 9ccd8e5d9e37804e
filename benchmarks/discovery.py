"""Does ``discover`` choose well? On data whose labels it does not see.

For each dataset: MIG of the chosen model, and how many of the other models are worse.
Then populations of which nothing should be chosen: far too large beta, and encoders
that have learned nothing. Last, scikit-learn's digits, whose factors nobody knows.

    python benchmarks/discovery.py OUT [--budget 6m] [--only sprites room ...]
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from unbraid import discover
from unbraid.discovery._plan import Plan
from unbraid.studies import study_from_plain
from unbraid.studies._opened import opened

LABELLED = {
    "sprites": "sprites2d:image_size=16,n_scales=3,n_orientations=5,n_positions=8",
    "room": (
        "room3d:image_size=16,n_floor_hues=4,n_wall_hues=4,n_object_hues=4,n_scales=3,"
        "n_orientations=5"
    ),
    "squares": (
        "xy_object:image_size=16,square_sizes=[2,4,6],spacing=1,palette=greys_4,"
        "rgb=false"
    ),
}
HOPELESS = {
    "too_large_beta": {"betas": [200, 1_000], "steps": 500, "learning_rate": 1e-3},
    "random_encoders": {"betas": [1, 4], "steps": 1, "learning_rate": 1e-9},
}


def hopeless(folder, name, budget):
    """A discovery whose plan is to train models that cannot be any good."""
    options = HOPELESS[name]
    data = LABELLED["sprites"]
    plain = {
        "data": data,
        "objective": "beta_vae",
        "network": {"name": "dense", "widths": [128, 128]},
        "training": {
            "steps": options["steps"],
            "learning_rate": options["learning_rate"],
        },
        "evaluation": {"metrics": ["mig"], "rows": 2_880},
        "traces": {"n_snapshots": min(5, options["steps"] + 1)},
        "grid": {"objective.beta": options["betas"]},
        "seeds": 5,
    }
    asked = {"seconds": None, "seed": 0}
    study = study_from_plain(plain, "discovery")
    Plan(opened(data).fingerprint, asked, study, 60.0).write(folder)
    return discover(data, folder)


def digits(folder, name, budget):
    """1,797 hand-written digits of 8x8 pixels."""
    images = (load_digits().images / 16).astype(np.float32)
    return discover(images, folder, budget=budget)


def labelled(folder, name, budget):
    """Data with labels, which are used to show how good the choice was."""
    return discover(LABELLED[name], folder, budget=budget)


def main():
    """Do what is asked for, and print the account of each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="folder for all discoveries")
    parser.add_argument("--budget", default="6m", help="of each dataset")
    parts = {
        **dict.fromkeys(LABELLED, labelled),
        **dict.fromkeys(HOPELESS, hopeless),
        "digits": digits,
    }
    parser.add_argument("--only", nargs="*", choices=parts, default=list(parts))
    options = parser.parse_args()
    for name in options.only:
        found = parts[name](options.out / name, name, options.budget)
        print(f"== {name}\n{found.summary.read_text()}", flush=True)


if __name__ == "__main__":
    main()
