"""No density tells perfect codes from entangled ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_2samp, uniform

from unbraid import evaluate
from unbraid.geometry import EntanglingMap
from unbraid.randomness import numpy_generator
from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._reproduction import Reproduction

_N_LATENTS = 8


def measure(evidence: Evidence) -> Measured:
    """What can be seen of entangled codes, and what labels say about them."""
    shape = (evidence.at(smoke=400, mini=6_000, paper=20_000), _N_LATENTS)
    factors = numpy_generator(0, "impossibility").random(shape)
    marginals: Any = [uniform()] * _N_LATENTS
    entangle = EntanglingMap(marginals=marginals)
    mixed = entangle(factors)
    found = {
        name: float(evaluate(codes, factors, metrics="mig", intervals=False)["mig"])
        for name, codes in (("perfect", factors), ("entangled", mixed))
    }
    # Two samples of one distribution differ by this much in one of a hundred cases.
    same = 1.63 * np.sqrt(2 / shape[0])
    checks = [
        Check(
            quantity="marginals before and after: largest difference, over what chance "
            "allows at 1 % per latent",
            expected="not above 1",
            value=_largest_difference(factors, mixed) / same,
            most=1.0,
        ),
        Check(
            quantity="smallest slope of a latent along a factor, over all points",
            expected="not 0",
            value=float(np.abs(entangle.jacobian(factors)).min()),
            least=1e-9,
        ),
        Check(
            quantity="MIG of the perfect codes",
            expected="near 1",
            value=found["perfect"],
            least=0.9,
        ),
        Check(
            quantity="MIG of the entangled codes",
            expected="near 0",
            value=found["entangled"],
            most=0.1,
        ),
    ]
    return Measured(checks=checks)


def _largest_difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Of the distribution functions, over all latents."""
    found: list[Any] = [ks_2samp(*pair) for pair in zip(a.T, b.T, strict=True)]
    return max(float(test.statistic) for test in found)


CLAIM = Reproduction(
    name="locatello-impossibility",
    source="Locatello et al. (2019), Theorem 1",
    claim="A map exists that mixes every latent into every other and leaves their "
    "distribution as it was, so that no look at the data alone can tell.",
    measure=measure,
)
