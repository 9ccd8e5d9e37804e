"""A perfect BetaVAE score with a factor missing."""

import numpy as np

from unbraid.data import Sprites2D
from unbraid.foundation import numpy_generator
from unbraid.metrics import (
    Factors,
    beta_vae_score,
    factor_vae_score,
    mutual_information_gap,
)
from unbraid_claims import Check, Claim, Evidence, Measured

_KNOWN = ("scale", "position_x", "position_y")


def measure(evidence: Evidence) -> Measured:
    """Measure scores of codes that encode position and scale, but not orientation."""
    data = Sprites2D(image_size=16, shapes=("ellipse",), n_orientations=20)
    n_rows = evidence.at(smoke=2_000, mini=20_000, paper=len(data))
    rows = np.sort(numpy_generator(0, "missing").permutation(len(data))[:n_rows])
    space = data.factor_space
    assert space is not None
    values, sizes, names = space.factors(rows), np.array(space.sizes), list(space.names)
    held = [names.index(name) for name in _KNOWN]
    known = np.flatnonzero(sizes > 1)
    factors = Factors(values[:, known], names=tuple(names[i] for i in known))
    noise = numpy_generator(0, "missing", "noise").normal(0.0, 0.01, (n_rows, 3))
    codes = values[:, held] / sizes[held] + noise
    few = evidence.at(smoke={"n_train": 500, "n_test": 200}, mini={}, paper={})
    checks = [
        Check(
            quantity="BetaVAE score without orientation",
            expected="100 %",
            value=float(beta_vae_score(codes, factors, **few)),
            least=0.99,
        ),
        Check(
            quantity="FactorVAE score without orientation",
            expected="clearly below 100 %",
            value=float(factor_vae_score(codes, factors, **few)),
            most=0.9,
        ),
        Check(
            quantity="MIG without orientation (three of four factors: at most 0.75)",
            expected="clearly below 1",
            value=float(mutual_information_gap(codes, factors)),
            most=0.76,
        ),
    ]
    return Measured(checks=checks)


CLAIM = Claim(
    name="locatello-missing-factor",
    source="Kim and Mnih (2018), Figure 3, in the lecture on Locatello et al. (2019)",
    text="The BetaVAE score is 100 % for codes without one of the factors: the missing "
    "factor is recognized because no latent is constant.",
    measure=measure,
)
