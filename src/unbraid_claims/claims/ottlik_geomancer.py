"""GeoManCEr finds factors from true latents, but not from pixels or codes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid import encode, fit
from unbraid.data import LabeledImages
from unbraid.geometry import Geomancer, ManifoldSample, alignment_error
from unbraid.reports import draw_manifold_spectrum, manifold_spectrum
from unbraid_claims import Check, Claim, Evidence, Measured
from unbraid_claims._rotating_object import (
    DIMENSIONS,
    pushed_tangents,
    random_angle,
    render_poses,
    sample_poses,
    splitting_angle,
)

_RATIO = "angle to the true subspaces, divided by that of random subspaces"


def measure(evidence: Evidence) -> Measured:
    """Points of one product manifold: as they are, as images, as codes of images."""
    sample = sample_poses(evidence.at(smoke=300, mini=3_000, paper=20_000))
    truth = Geomancer(sample.dimension).fit(sample.points)
    chance = random_angle(n_samples=evidence.at(smoke=100, mini=10_000, paper=10_000))
    latents = splitting_angle(sample.points, truth, sample.tangents)
    pixels = _split(sample, _pixels)
    codes = evidence.cached("split codes", lambda: _split_codes(evidence, sample))
    checks = [
        *_check_latents(truth, sample),
        Check(
            quantity=f"true latents: {_RATIO}",
            expected="small",
            value=latents / chance,
            most=0.25,
        ),
        _check_missed("pixels", pixels),
        Check(
            quantity=f"pixels: {_RATIO}",
            expected="about 1: no better than chance",
            value=pixels["angle"] / chance,
            least=0.8,
        ),
        _check_missed("beta-VAE codes", codes),
        Check(
            quantity=f"beta-VAE codes: {_RATIO}",
            expected="large",
            value=codes["angle"] / chance,
            least=0.5,
        ),
    ]
    figure = draw_manifold_spectrum(manifold_spectrum(truth))
    remark = (
        f"The mean angle between random subspaces of two and three dimensions is "
        f"{chance:.2f} rad."
    )
    return Measured(checks=checks, figure=figure, n_seeds=1, remark=remark)


def _check_latents(truth: Geomancer, sample: ManifoldSample) -> list[Check]:
    error = float("nan")
    if sorted(truth.dimensions_) == sorted(DIMENSIONS):
        error = float(alignment_error(truth.components_, sample.tangents).mean())
    return [
        Check(
            quantity="true latents: factors of 2 and 3 dimensions found (1: yes)",
            expected="yes",
            value=_is_found(truth),
            least=0.5,
        ),
        Check(
            quantity="true latents: mean angle to the true tangent spaces, in rad",
            expected="small, below 0.15",
            value=error,
            most=0.15,
        ),
    ]


def _check_missed(points: str, split: dict[str, float]) -> Check:
    return Check(
        quantity=f"{points}: factors of 2 and 3 dimensions found (1: yes)",
        expected="no",
        value=split["found"],
        most=0.5,
    )


def _is_found(fitted: Geomancer) -> float:
    found = sorted(fitted.dimensions_) == sorted(DIMENSIONS)
    return float(fitted.is_product_ and found)


def _split(
    sample: ManifoldSample,
    embed: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> dict[str, float]:
    """Split embedded points: whether the factors are found, and the angle to them."""
    points = embed(sample.points)
    # GeoManCEr takes each point once.
    rows = np.sort(np.unique(points, axis=0, return_index=True)[1])
    fitted = Geomancer(sample.dimension).fit(points[rows])
    true = [basis[rows] for basis in pushed_tangents(sample, embed)]
    angle = splitting_angle(points[rows], fitted, true)
    return {"found": _is_found(fitted), "angle": angle}


def _pixels(poses: NDArray[np.float64]) -> NDArray[np.float64]:
    return render_poses(poses).reshape(len(poses), -1) / 255.0


def _split_codes(evidence: Evidence, sample: ManifoldSample) -> dict[str, float]:
    steps = evidence.at(smoke=20, mini=3_000, paper=100_000)
    data = LabeledImages(render_poses(sample.points))
    trained = fit(
        "beta_vae", data, steps=steps, learning_rate=1e-3, device="cpu", progress=False
    )

    def codes(poses: NDArray[np.float64]) -> Any:
        images = LabeledImages(render_poses(poses))
        return encode(trained.model, images, progress=False).codes.astype(np.float64)

    return _split(sample, codes)


CLAIM = Claim(
    name="ottlik-geomancer",
    source="Ottlik, Ram and Liss (2022), section 3.3",
    text="For an object seen from all sides in all lights, GeoManCEr finds the two "
    "factors in the true latents, and fails on raw pixels and on beta-VAE codes.",
    measure=measure,
    changed="2026-11-18",
)
