"""estermann-2020: populations scored with labels, without, and recursively."""

from typing import Any

from ._dlib_2019 import dlib_2019
from ._scales import MINI_NETWORK, SMALL_ROOM, SMALL_SPRITES, Plain, by_scale

# Positions far enough apart that the latents which hold them are staircases.
_MINI_DATA = "sprites2d:image_size=16,n_scales=4,n_orientations=3,n_positions=5"

# Above 5, latents of images this small hold less than half a nat, and agree on it.
_MINI_RANGES: Plain = {
    "training.batch_size": {
        "values": [128, 256], "least": 64, "most": 512, "whole": True
    },
    "training.learning_rate": {
        "values": [0.002, 0.004], "least": 0.0005, "most": 0.016
    },
    "objective.beta": {"values": [1, 2, 3, 4], "least": 0.5, "most": 5},
}  # fmt: skip
_MINI_IMAGES, _MINI_GENERATIONS = 25_600, 10


def estermann_2020_fig1(scale: str) -> Plain:
    """Populations scored with labels, against choosing among models trained apart.

    Five seeds of each: PBT-S-VAE scored by MIG and by DCI disentanglement on all
    labels, by MIG on few labels (1,000; in the miniature 100 of 900), and the best of
    equally many models with as many images and no exchange, chosen by MIG on all
    labels and on few.

    Args:
        scale: ``"mini"`` (sprites of 16x16 pixels, beta-VAE), ``"small"`` (rendered
            sprites) or ``"paper"`` (dSprites).

    References:
        Estermann, Marks and Yanik (2020), Robust Disentanglement of a Few Factors at a
        Time using rPU-VAE, Figure 1. https://arxiv.org/abs/2010.13527
    """
    few = by_scale(scale, mini=100, small=1_000, paper=1_000)
    bred = _population(scale)
    apart = _without_exchange(bred)
    settings = [
        {"method": "supervised", "population": bred},
        {"method": "supervised", "population": bred, "metric": "dci"},
        {"method": "supervised", "population": bred, "labels": few},
        {"method": "supervised", "population": apart},
        {"method": "supervised", "population": apart, "labels": few},
    ]
    return _study("fig1", scale) | {"grid": {"evolution": settings}}


def estermann_2020_fig2(scale: str) -> Plain:
    """PBT-U-VAE: what populations learn that are scored by agreement alone.

    Args:
        scale: As for Figure 1.

    References:
        Estermann, Marks and Yanik (2020), section 4.1 and Figure 2.
    """
    return _study("fig2", scale) | {"evolution": _unsupervised("unsupervised", scale)}


def estermann_2020_fig4(scale: str) -> Plain:
    """rPU-VAE with three leaf runs, and PBT-S-VAE with all labels as its upper limit.

    The methods that they are compared with are those of ``estermann-2020-fig4-plain``.

    Args:
        scale: ``"mini"``, ``"small"`` (two rendered datasets) or ``"paper"`` (dSprites
            and Shapes3D).

    References:
        Estermann, Marks and Yanik (2020), section 5 and Figure 4.
    """
    supervised = {"method": "supervised", "population": _population(scale)}
    settings = [_recursive(scale, 3), supervised]
    study = _study("fig4", scale)
    del study["data"]
    return study | {"grid": {"data": _both(scale), "evolution": settings}}


def estermann_2020_fig4_plain(scale: str) -> Plain:
    """The six methods of ``dlib-2019`` on the data of Figure 4.

    Args:
        scale: As for Figure 4; the miniature has five seeds.

    References:
        Estermann, Marks and Yanik (2020), Figure 4; Locatello et al. (2019).
    """
    study = dlib_2019(scale)
    if scale == "mini":
        study["network"] = _network(scale)
        # As many images as a member of a population sees in all generations.
        study["training"]["steps"] = _MINI_GENERATIONS * _MINI_IMAGES // 64
    return study | {
        "name": f"estermann-2020-fig4-plain-{scale}",
        "grid": {"data": _both(scale)},
        "evaluation": _evaluation(scale),
    }


def estermann_2020_fig5(scale: str) -> Plain:
    """One rPU-VAE, to look at what each of its stages has learned.

    Args:
        scale: As for Figure 4.

    References:
        Estermann, Marks and Yanik (2020), Figures 3 and 5.
    """
    study = _study("fig5", scale)
    del study["data"]
    return study | {
        "evolution": _recursive(scale, 1),
        "grid": {"data": _both(scale)},
        "seeds": 1,
    }


def estermann_2020_fig6(scale: str) -> Plain:
    """rPU-VAE with 0 to 3 leaf runs, which share the populations they have in common.

    Args:
        scale: As for Figure 4.

    References:
        Estermann, Marks and Yanik (2020), section 5.1 and Figure 6.
    """
    study = _study("fig6", scale)
    del study["data"]
    return study | {
        "evolution": _recursive(scale, 0),
        "grid": {
            "data": _both(scale),
            "evolution.recursion.leaf_runs": [0, 1, 2, 3],
        },
    }


def _study(figure: str, scale: str) -> Plain:
    return {
        "name": f"estermann-2020-{figure}-{scale}",
        "data": _both(scale)[0],
        "objective": by_scale(
            scale, mini="beta_vae", small="beta_tc_vae", paper="beta_tc_vae"
        ),
        "network": _network(scale),
        "likelihood": "bernoulli",
        "training": {"n_latents": 10},
        "evaluation": _evaluation(scale),
        "seeds": 5,
    }


def _network(scale: str) -> Any:
    small = {**MINI_NETWORK, "widths": [64, 64]}
    return by_scale(scale, mini=small, small="convolutional", paper="convolutional")


def _both(scale: str) -> list[str]:
    return by_scale(
        scale,
        mini=[_MINI_DATA],
        small=[SMALL_SPRITES, SMALL_ROOM],
        paper=["dsprites", "shapes3d"],
    )


def _evaluation(scale: str) -> Plain:
    rows = by_scale(scale, mini=900, small=10_000, paper=10_000)
    return {"metrics": ["mig", "dci"], "rows": rows}


def _population(scale: str) -> Plain:
    """Of models that are scored with labels."""
    return by_scale(
        scale,
        mini={
            "size": 8,
            "generations": _MINI_GENERATIONS,
            "images": _MINI_IMAGES,
            "ranges": _MINI_RANGES,
        },
        small={"size": 8, "generations": 10, "images": 100_000},
        paper={},
    )


def _without_exchange(bred: Plain) -> Plain:
    """One generation that is as long as all of them."""
    size, n_generations = bred.get("size", 28), bred.get("generations", 26)
    images = n_generations * bred.get("images", 737_280)
    return {**bred, "size": size, "generations": 1, "images": images}


def _unsupervised(method: str, scale: str) -> Plain:
    population = by_scale(
        scale,
        mini={
            "size": 4,
            "generations": 20,
            "images": _MINI_IMAGES,
            "patience": 3,
            "change": 0.01,
            "ranges": _MINI_RANGES,
        },
        small={"size": 5, "generations": 10, "images": 100_000},
        paper={"generations": 500},
    )
    return {"method": method, "population": population}


def _recursive(scale: str, leaf_runs: int) -> Plain:
    final = _population(scale)
    # A latent of four values holds at most 1.4 nats.
    recursion = by_scale(scale, mini={"active": 0.5}, small={}, paper={})
    return {
        **_unsupervised("recursive", scale),
        "final": {key: value for key, value in final.items() if key != "ranges"},
        "recursion": {**recursion, "leaf_runs": leaf_runs},
    }
