"""michlo-2022: do VAEs disentangle, or do they learn distances between images?

The rows of Tables A.3, A.4, A.6 and A.7 of the dissertation, which compare beta-VAE
with Ada-GVAE. Table A.5 has a file of its own.
"""

from ._michlo_2022_settings import (
    BOX,
    both_frameworks,
    common_datasets,
    repeats,
    shared_settings,
    squares,
)
from ._scales import MINI_SPRITES, SMALL_SPRITES, Plain, by_scale


def michlo_2022_a3_1(scale: str) -> Plain:
    """Table A.3, row 1, Figure 3.7: adversarial against common datasets, 160 runs.

    8 betas x 2 frameworks x 2 numbers of latents x 5 datasets.

    References:
        Michlo (2022), dissertation, section 3.3.3 and Table A.3.
    """
    betas = [0.000316, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0]
    return {
        **shared_settings("michlo-2022-a3-1", scale, steps=115_200, n_latents=9),
        "methods": both_frameworks(betas if scale == "paper" else betas[1::2]),
        "grid": {
            "data": common_datasets(scale),
            "training.n_latents": by_scale(scale, mini=[9], small=[9], paper=[9, 25]),
        },
        "seeds": repeats(scale, 1),
    }


def michlo_2022_a3_2(scale: str) -> Plain:
    """Table A.3, row 2, Figure 3.10: more and more overlap of squares, 160 runs.

    2 betas x 2 frameworks x 8 spacings of XYSquares x 5 repeats.

    References:
        Michlo (2022), dissertation, section 3.3.4 and Table A.3.
    """
    name, spacings = by_scale(
        scale,
        mini=("xy_squares:image_size=16,square_size=4,spacing=", [4, 3, 2, 1]),
        small=("xy_squares:grid_size=5,spacing=", [8, 6, 4, 2, 1]),
        paper=("xy_squares:spacing=", [8, 7, 6, 5, 4, 3, 2, 1]),
    )
    return {
        **shared_settings("michlo-2022-a3-2", scale, steps=57_600, n_latents=9),
        "methods": both_frameworks([0.001, 0.00316]),
        "grid": {"data": [f"{name}{spacing}" for spacing in spacings]},
        "seeds": repeats(scale, 5),
    }


def michlo_2022_a3_3(scale: str) -> Plain:
    """Table A.3, row 3, Figure 3.12: squares compared through a box blur, 40 runs.

    2 betas x 2 frameworks x 2 reconstruction losses x 5 repeats, on XYSquares.

    References:
        Michlo (2022), dissertation, section 3.4.1 and Table A.3.
    """
    return {
        **shared_settings("michlo-2022-a3-3", scale, steps=57_600, n_latents=25),
        "data": squares(scale),
        "methods": both_frameworks([0.0001, 0.0316]),
        "grid": {"likelihood": [{"name": "gaussian"}, BOX]},
        "seeds": repeats(scale, 5),
    }


def michlo_2022_a4(scale: str) -> Plain:
    """Table A.4, Figure 4.4: distances that VAEs learn, 180 runs.

    2 learning rates x 9 betas x 2 frameworks x 5 datasets.

    References:
        Michlo (2022), dissertation, section 4.3 and Table A.4.
    """
    betas = [0.0001, 0.000316, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1.0]
    rates = by_scale(scale, mini=[1e-3], small=[1e-3], paper=[1e-3, 1e-4])
    return {
        **shared_settings("michlo-2022-a4", scale, steps=57_600, n_latents=25),
        "methods": both_frameworks(betas if scale == "paper" else betas[::2]),
        "grid": {"data": common_datasets(scale), "training.learning_rate": rates},
        "seeds": repeats(scale, 1),
    }


def michlo_2022_a6(scale: str) -> Plain:
    """Table A.6, row 2, Figure 6.4: squares compared through kernels, 180 of 240 runs.

    6 betas x 2 frameworks x 3 reconstruction losses x 5 repeats, on XYSquares: squared
    error as it is, through a Gaussian, and through a box. The fourth loss goes through
    the kernel that row 1 of the table learns, which trains no autoencoder and so is not
    a study (:func:`unbraid.geometry.learn_loss` does it); its numbers can be added to
    ``grid`` as a likelihood
    ``{name: kernel_augmented, kernel: [[...], ...], weight: ...}``.

    References:
        Michlo (2022), dissertation, section 6.1 and Table A.6. The weights of the
        kernels are not published there; those of ``KernelAugmented`` are used.
    """
    betas = [0.0001, 0.000316, 0.001, 0.00316, 0.01, 0.0316]
    blurred = {"name": "kernel_augmented", "kernel": "gaussian"}
    return {
        **shared_settings("michlo-2022-a6", scale, steps=57_600, n_latents=25),
        "data": squares(scale),
        "methods": both_frameworks(betas if scale == "paper" else betas[::2]),
        "grid": {"likelihood": [{"name": "gaussian"}, blurred, BOX]},
        "seeds": repeats(scale, 5),
    }


def michlo_2022_a7_1(scale: str) -> Plain:
    """Table A.7, row 1, Figure 7.3: colour as one factor or as two, 48 runs.

    4 betas x 2 frameworks x 2 datasets x 3 repeats.

    References:
        Michlo (2022), dissertation, section 7.2 and Table A.7.
    """
    options = by_scale(
        scale,
        mini=":image_size=16,square_sizes=[3,5,7],spacing=2",
        small=":spacing=6",
        paper="",
    )
    return {
        **shared_settings("michlo-2022-a7-1", scale, steps=57_600, n_latents=9),
        "methods": both_frameworks([0.001, 0.00316, 0.01, 0.0316]),
        "grid": {"data": [f"xy_object{options}", f"xy_object_shaded{options}"]},
        "seeds": repeats(scale, 3),
    }


def michlo_2022_a7_2(scale: str) -> Plain:
    """Table A.7, row 2, Figure 7.6: pictures behind or inside of sprites, 60 runs.

    3 betas x 2 frameworks x foreground or background x 5 visibilities.

    References:
        Michlo (2022), dissertation, section 7.3 and Table A.7.
    """
    stock = by_scale(
        scale,
        mini=f'sprites="{MINI_SPRITES}"',
        small=f'sprites="{SMALL_SPRITES}"',
        paper="sprites=dsprites,pictures=tiny_imagenet",
    )
    percents = by_scale(
        scale, mini=[0, 50, 100], small=[0, 50, 100], paper=[0, 25, 50, 75, 100]
    )
    datasets = [
        f"picture_sprites:{stock},where={where},visibility={percent}"
        for where in ("inside", "behind")
        for percent in percents
    ]
    betas = by_scale(scale, mini=[0.01], small=[0.01], paper=[0.00316, 0.01, 0.0316])
    return {
        **shared_settings("michlo-2022-a7-2", scale, steps=57_600, n_latents=9),
        "methods": both_frameworks(betas),
        "grid": {"data": datasets},
        "seeds": repeats(scale, 1),
    }
