"""GeoManCEr finds factors from true latents, but not from pixels or codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid import encode, fit
from unbraid.data import LabeledImages
from unbraid.geometry import Geomancer, alignment_error, product_manifold
from unbraid.reports import draw_manifold_spectrum, manifold_spectrum
from unbraid_claims import Check, Claim, Evidence, Measured
from unbraid_claims._rotating_object import render_rotating_object

_FACTORS, _DIMENSIONS = "SO3 x S2", [2, 3]


def measure(evidence: Evidence) -> Measured:
    """Apply GeoManCEr to points of a product manifold, their images and their codes."""
    n_points = evidence.at(smoke=300, mini=3_000, paper=20_000)
    sample = product_manifold(_FACTORS, n_points)
    rotations = sample.points[:, :9].reshape(-1, 3, 3)
    # Coordinates have unit length on the sphere, whatever the scale of SO(3).
    rotations = rotations / np.linalg.norm(rotations[:, :1], axis=2, keepdims=True)
    images = render_rotating_object(rotations, sample.points[:, 9:])
    pixels = images.reshape(n_points, -1) / 255.0
    truth = Geomancer(sample.dimension).fit(sample.points)
    error = float("nan")
    if sorted(truth.dimensions_) == _DIMENSIONS:
        error = float(alignment_error(truth.components_, sample.tangents).mean())
    checks = [
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
    codes = np.array(evidence.cached("codes", lambda: _codes(evidence, images)))
    for what, points in (("pixels", pixels), ("beta-VAE codes", codes)):
        fitted = Geomancer(sample.dimension).fit(np.unique(points, axis=0))
        checks.append(
            Check(
                quantity=f"{what}: factors of 2 and 3 dimensions found (1: yes)",
                expected="no",
                value=_is_found(fitted),
                most=0.5,
            )
        )
    figure = draw_manifold_spectrum(manifold_spectrum(truth))
    return Measured(checks=checks, figure=figure, n_seeds=1)


def _is_found(fitted: Geomancer) -> float:
    return float(fitted.is_product_ and sorted(fitted.dimensions_) == _DIMENSIONS)


def _codes(evidence: Evidence, images: NDArray[np.uint8]) -> Any:
    data = LabeledImages(images)
    steps = evidence.at(smoke=20, mini=3_000, paper=100_000)
    trained = fit(
        "beta_vae", data, steps=steps, learning_rate=1e-3, device="cpu", progress=False
    )
    return encode(trained.model, data, progress=False).codes.tolist()


CLAIM = Claim(
    name="ottlik-geomancer",
    source="Ottlik, Ram and Liss (2022), section 3.3",
    text="For an object seen from all sides in all lights, GeoManCEr finds the two "
    "factors in the true latents, and fails on raw pixels and on beta-VAE codes.",
    measure=measure,
)
