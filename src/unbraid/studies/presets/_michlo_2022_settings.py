"""What all sweeps of the dissertation have in common."""

from ._scales import (
    MINI_NETWORK,
    MINI_ROOM,
    MINI_SPRITES,
    SMALL_ROOM,
    SMALL_SPRITES,
    Plain,
    by_scale,
)

BOX: Plain = {"name": "kernel_augmented", "kernel": "box"}
"""Squared error as it is and through a box, as wide as fits: 63x63 for 64x64 pixels,
with the published weight of 63 times 63.
"""


def shared_settings(name: str, scale: str, *, steps: int, n_latents: int) -> Plain:
    """Settings of all runs of a sweep.

    Losses are means over pixels and over latents (section A.2.1), so that the published
    betas hold for miniatures too; images are standardised.

    Args:
        name: Of the sweep.
        scale: Of the study.
        steps: As published.
        n_latents: As published.

    References:
        Michlo (2022), dissertation, section A.3.
    """
    # Distances along factors need every value of them, hence all rows.
    rows = by_scale(scale, mini=5_000, small=30_000, paper=1_000_000)
    return {
        "name": f"{name}-{scale}",
        "network": by_scale(
            scale, mini=MINI_NETWORK, small="dissertation", paper="dissertation"
        ),
        "likelihood": "gaussian",
        "training": {
            "steps": by_scale(scale, mini=3_000, small=14_400, paper=steps),
            "batch_size": by_scale(scale, mini=64, small=64, paper=256),
            "n_latents": n_latents,
            "learning_rate": 1e-3,
            "order": "shuffled",
            "standardise": True,
        },
        "evaluation": {
            "metrics": [
                "mig",
                "dci",
                "factor_vae_score",
                "sap",
                "distance_correlation",
                "linearity",
                "axis_alignment",
            ],
            "rows": rows,
        },
    }


def squares(scale: str) -> str:
    """The adversarial dataset; four positions each at the smaller scales."""
    return by_scale(
        scale,
        mini="xy_squares:image_size=8,square_size=2",
        small="xy_squares:square_size=16",
        paper="xy_squares",
    )


def common_datasets(scale: str) -> list[str]:
    """Datasets that are easy, and the adversarial one last."""
    others = by_scale(
        scale,
        mini=[MINI_SPRITES, MINI_ROOM],
        small=[SMALL_SPRITES, SMALL_ROOM],
        paper=["dsprites", "shapes3d", "cars3d", "smallnorb"],
    )
    return [*others, squares(scale)]


def both_frameworks(betas: list[float]) -> Plain:
    """beta-VAE and Ada-GVAE with the same betas."""
    return {
        "beta_vae": {"beta": betas, "scale": "mean"},
        "ada_gvae": {"beta": betas, "scale": "mean"},
    }


def repeats(scale: str, published: int) -> int:
    """Number of seeds."""
    return by_scale(scale, mini=5, small=3, paper=published)
