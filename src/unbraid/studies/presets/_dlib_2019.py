"""dlib-2019: six methods with six strengths each, on seven datasets."""

from ._scales import MINI_NETWORK, SMALL_ROOM, SMALL_SPRITES, Plain, by_scale, linear

_PAPER_DATA = [
    "dsprites",
    "coloured_sprites:sprites=dsprites",
    "noisy_sprites:sprites=dsprites",
    "scream_sprites:sprites=dsprites",
    "smallnorb",
    "cars3d",
    "shapes3d",
]
_MINI_DATA = [
    "xy_object:image_size=16,square_sizes=[2,4,6],spacing=1,palette=greys_4,rgb=false"
]
_METRICS = [
    "beta_vae_score",
    "factor_vae_score",
    "mig",
    "dci",
    "sap",
    "modularity",
    "irs",
    "gaussian_total_correlation",
    "gaussian_wasserstein",
    "pairwise_information",
    "active_units",
    "downstream",
    "efficiency",
]


def dlib_2019(scale: str) -> Plain:
    """The large study: 6 methods x 6 strengths x 50 seeds x 7 datasets = 12,600 runs.

    Asks which methods, strengths and seeds disentangle, and whether that can be known
    without labels. The strengths are the published ones at every scale. The kinds i and
    ii of DIP-VAE are two of the six methods.

    Two things differ from the published study at the scale ``"paper"``: pictures behind
    the sprites are crops of other photographs than "The Scream", and SmallNORB has its
    instances as a fifth factor.

    Args:
        scale: ``"mini"`` (36 settings x 5 seeds, squares of 16x16 pixels), ``"small"``
            (36 x 5 seeds x 2 rendered datasets) or ``"paper"``.

    References:
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, section 4 and tables of
        hyperparameters. https://arxiv.org/abs/1811.12359
    """
    adversary = {"discriminator_width": 128} if scale == "mini" else {}
    capacities = [linear(0.0, end, 1 / 3) for end in (5, 10, 25, 50, 75, 100)]
    weights = [1, 2, 5, 10, 20, 50]
    return {
        "name": f"dlib-2019-{scale}",
        "network": by_scale(
            scale,
            mini=MINI_NETWORK,
            small="disentanglement_lib",
            paper="disentanglement_lib",
        ),
        "likelihood": "bernoulli",
        "training": {
            "steps": by_scale(scale, mini=3_000, small=15_000, paper=300_000),
            "batch_size": 64,
            "n_latents": 10,
            "learning_rate": by_scale(scale, mini=1e-3, small=1e-4, paper=1e-4),
        },
        "evaluation": {
            "metrics": _METRICS,
            "rows": by_scale(scale, mini=1_452, small=20_000, paper=50_000),
        },
        "methods": {
            "beta_vae": {"beta": [1, 2, 4, 6, 8, 16]},
            "annealed_vae": {"capacity": capacities, "gamma": 1000},
            "factor_vae": {"gamma": [10, 20, 30, 40, 50, 100], **adversary},
            "dip_vae": {"kind": ["i", "ii"], "lambda_off_diagonal": weights},
            "beta_tc_vae": {"beta": [1, 2, 4, 6, 8, 10]},
        },
        "grid": {
            "data": by_scale(
                scale,
                mini=_MINI_DATA,
                small=[SMALL_SPRITES, SMALL_ROOM],
                paper=_PAPER_DATA,
            )
        },
        "seeds": by_scale(scale, mini=5, small=5, paper=50),
    }
