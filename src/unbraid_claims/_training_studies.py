"""Studies that no published sweep covers, such as those of capacity and of compute."""

from collections.abc import Callable
from typing import Any

Plain = dict[str, Any]

_MINI_DATA = "sprites2d:image_size=16,n_scales=3,n_orientations=5,n_positions=8"


def capacity(preset: str) -> Plain:
    """Return a study of AnnealedVAE over the final capacity in nats.

    The published run has one capacity that rises to 25. Here each final capacity is a
    run of its own, reached after half of the steps.
    """
    is_paper = preset == "paper"
    ends = [2, 5, 10, 15, 20, 25] if is_paper else [1, 2, 4, 6, 8, 10]
    rising = [
        {"name": "linear", "start": 0.0, "end": end, "share": 0.5} for end in ends
    ]
    return _study(is_paper) | {
        "objective": {"name": "annealed_vae", "gamma": 1000 if is_paper else 10},
        "grid": {"objective.capacity": rising},
        "seeds": 3,
    }


def compute(preset: str) -> Plain:
    """Return a study of VAE and beta-VAE (beta 4) over the number of steps."""
    is_paper = preset == "paper"
    steps = [250, 500, 1_000, 2_000, 4_000, 8_000]
    longer = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000]
    return _study(is_paper) | {
        "objective": {"name": "beta_vae"},
        "grid": {
            "objective.beta": [1, 4],
            "training.steps": longer if is_paper else steps,
        },
        "seeds": 3,
    }


def encoder_size(preset: str) -> Plain:
    """Return a study of VAEs over the width of the network."""
    is_paper = preset == "paper"
    widths = [[16, 16], [32, 32], [64, 64], [128, 128], [256, 256], [512, 512]]
    return _study(is_paper) | {
        "objective": {"name": "beta_vae", "beta": 1},
        "grid": {"network": [{"name": "dense", "widths": both} for both in widths]},
        "seeds": 3,
    }


def beta_samples(preset: str) -> Plain:
    """Return a study of beta-VAE over betas from far too small to far too large.

    Those of the miniature are a quarter of the published ones, as in ``holtz-2022``.
    """
    is_paper = preset == "paper"
    betas = [0.1, 1, 10, 100]
    return _study(is_paper) | {
        "objective": {"name": "beta_vae"},
        "grid": {"objective.beta": betas if is_paper else [b / 4 for b in betas]},
        "seeds": 3,
    }


def latent_numbers(preset: str) -> Plain:
    """Return a study of beta-VAE over the number of latents, with traces."""
    is_paper = preset == "paper"
    traces = {"layer": "3"} if is_paper else {}
    return _study(is_paper) | {
        "objective": {"name": "beta_vae", "beta": 1 if is_paper else 0.25},
        "grid": {"training.n_latents": [4, 8, 16]},
        "traces": {"n_observations": 64, "n_snapshots": 20, **traces},
        "seeds": 5,
    }


def _study(is_paper: bool) -> Plain:
    return {
        "data": "dsprites" if is_paper else _MINI_DATA,
        "network": "disentanglement_lib"
        if is_paper
        else {"name": "dense", "widths": [128, 128]},
        "likelihood": "bernoulli",
        "training": {
            "steps": 100_000 if is_paper else 3_000,
            "batch_size": 64,
            "n_latents": 10,
            "learning_rate": 1e-4 if is_paper else 1e-3,
        },
        "evaluation": {"metrics": ["mig"], "rows": 50_000 if is_paper else 3_000},
    }


OWN_STUDIES: dict[str, Callable[[str], Plain]] = {
    "beta-samples": beta_samples,
    "capacity": capacity,
    "compute": compute,
    "encoder-size": encoder_size,
    "latent-numbers": latent_numbers,
}
"""Studies by name, as functions from the preset to the data of a study file."""
