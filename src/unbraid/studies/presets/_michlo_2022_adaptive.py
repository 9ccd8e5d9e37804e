"""michlo-2022: distances by triplets, along the axes of the code (Table A.5)."""

from ._michlo_2022_settings import (
    BOX,
    common_datasets,
    repeats,
    shared_settings,
    squares,
)
from ._scales import Plain, by_scale, linear

_WEAK, _STRONG, _RISING = linear(1.0, 0.5), linear(1.0, 0.0), linear(0.0, 0.5)


def michlo_2022_a5_1(scale: str) -> Plain:
    """Table A.5, row 1, Figures 5.1 and 5.3: triplets and beta-VAE, 320 runs.

    2 margins x 2 weights x 2 norms x hard or soft margin x with or without the
    decoder's gradient x 2 distances between factors x 5 datasets. The table names five
    of the six settings with two values; the sixth is in section 5.3.3.

    References:
        Michlo (2022), dissertation, section 5.3 and Table A.5.
    """
    return {
        **shared_settings("michlo-2022-a5-1", scale, steps=57_600, n_latents=25),
        "methods": {
            "tvae": {
                "beta": 0.01,
                "margin": by_scale(scale, mini=[10], small=[10], paper=[1, 10]),
                "alpha": by_scale(scale, mini=[1], small=[1], paper=[1, 10]),
                "p": [1, 2],
                "margin_kind": ["soft", "hard"],
                "decoder_gradient": [True, False],
                "triplets": ["l1", "scaled"],
            }
        },
        "grid": {"data": _datasets(scale)},
        "seeds": repeats(scale, 1),
    }


def michlo_2022_a5_2(scale: str) -> Plain:
    """Table A.5, row 2, Figures 5.4 and 5.5: schedules of Ada-TVAE, 100 runs.

    2 distances between factors x 2 ways to tell shared latents x 5 schedules x 5
    datasets. The shared weight of the first schedule is 1 in the table, with which the
    loss is the plain triplet loss; it is 0.5 here, as in the library that was used.

    References:
        Michlo (2022), dissertation, section 5.4 and Tables 5.2 and A.5.
    """
    return {
        **shared_settings("michlo-2022-a5-2", scale, steps=86_400, n_latents=25),
        "objective": {"name": "ada_tvae"},
        "grid": {
            "data": _datasets(scale),
            "objective.triplets": ["l1", "scaled"],
            "objective.shared_by": ["kl", "distance"],
        },
        "zip": [
            {
                "objective.omega": [0.5, _WEAK, _STRONG, _WEAK, _STRONG],
                "objective.eta": [_RISING, 0.5, 0.5, _RISING, _RISING],
            }
        ],
        "seeds": repeats(scale, 1),
    }


def michlo_2022_a5_3(scale: str) -> Plain:
    """Table A.5, row 3, Figure 5.7: Ada-TVAE without labels, 20 runs.

    2 numbers of triplets x 5 datasets x 2 repeats. Triplets are put in order by how
    alike the images look, squares through a box blur.

    References:
        Michlo (2022), dissertation, section 5.5 and Table A.5.
    """
    datasets = common_datasets(scale)
    losses = [{"name": "gaussian"}] * (len(datasets) - 1) + [BOX]
    return {
        **shared_settings("michlo-2022-a5-3", scale, steps=86_400, n_latents=25),
        "objective": {
            "name": "ada_tvae",
            "triplets": "perceived",
            "omega": _WEAK,
            "eta": 0.5,
        },
        "grid": {"objective.n_triplets": [512, 1024]},
        "zip": [{"data": datasets, "likelihood": losses}],
        "seeds": repeats(scale, 2),
    }


def _datasets(scale: str) -> list[str]:
    return common_datasets(scale) if scale == "paper" else [squares(scale)]
