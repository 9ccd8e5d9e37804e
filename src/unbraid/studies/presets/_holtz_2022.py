"""holtz-2022: beta, latents and initialisations, with traces of the decoder."""

from ._scales import MINI_NETWORK, MINI_SPRITES, SMALL_SPRITES, Plain, by_scale


def holtz_2022(scale: str) -> Plain:
    """Stability of training: 5 betas x 5 numbers of latents x 25 seeds = 625 runs.

    Asks whether the specification whose runs take the same course, whatever they start
    from, is the one that disentangles. Every run records what a hidden layer of its
    decoder does with fixed images during training.

    The paper does not say how long it trains, which hidden units it looks at, or how
    often: training is that of ``dlib-2019``, and the layer the second dense one. In the
    miniature, betas are a quarter of the published ones, as its images have fewer
    pixels; the highest leaves four latents in use.

    Args:
        scale: ``"mini"`` (5 seeds, sprites of 16x16 pixels), ``"small"`` (5 seeds,
            rendered sprites) or ``"paper"`` (25 seeds, dSprites).

    References:
        Holtz, Mishne and Cloninger (2022), Evaluating Disentanglement in Generative
        Models Without Knowledge of Latent Factors, section 4 and Table 1.
    """
    betas = by_scale(
        scale,
        mini=[0.25, 0.5, 1, 2, 4],
        small=[1, 2, 4, 8, 16],
        paper=[1, 2, 4, 8, 16],
    )
    # Of convolutional decoders, the last hidden layer would be 32,768 units wide.
    layer = {} if scale == "mini" else {"layer": "3"}
    return {
        "name": f"holtz-2022-{scale}",
        "data": by_scale(
            scale, mini=MINI_SPRITES, small=SMALL_SPRITES, paper="dsprites"
        ),
        "objective": "beta_vae",
        "network": by_scale(
            scale, mini=MINI_NETWORK, small="convolutional", paper="convolutional"
        ),
        "likelihood": "bernoulli",
        "training": {
            "steps": by_scale(scale, mini=3_000, small=15_000, paper=300_000),
            "batch_size": 64,
            "learning_rate": by_scale(scale, mini=1e-3, small=1e-4, paper=1e-4),
        },
        "evaluation": {
            "metrics": ["beta_vae_score", "factor_vae_score", "mig"],
            "rows": by_scale(scale, mini=3_000, small=30_000, paper=50_000),
        },
        "traces": {"n_observations": 64, "n_snapshots": 20, **layer},
        "grid": {"objective.beta": betas, "training.n_latents": [2, 4, 8, 16, 32]},
        "seeds": by_scale(scale, mini=5, small=5, paper=25),
    }
