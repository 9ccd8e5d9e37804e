"""Perfect and entangled codes can have the same distribution."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import combine_pvalues, uniform

from unbraid import evaluate
from unbraid.foundation import numpy_generator
from unbraid.geometry import EntanglingMap, random_rotation
from unbraid_claims import Check, Claim, Evidence, Measured
from unbraid_claims._joint_law import energy_test

Values = NDArray[np.float64]

_N_LATENTS = 8
_LEVEL = 0.01
# Correlation between any two normal scores of the control.
_CONTROL = 0.3
# A factor moves by this share of its range when dependence is measured.
_STEP = 0.1


class _Map(Protocol):
    def __call__(self, codes: Values, /) -> Values: ...

    def jacobian(self, codes: Values, /) -> Values: ...


def measure(evidence: Evidence) -> Measured:
    """Compare perfect and entangled codes with and without labels."""
    marginals: Any = [uniform()] * _N_LATENTS
    maps = [
        EntanglingMap(
            marginals=marginals, rotation=random_rotation(_N_LATENTS, seed=seed)
        )
        for seed in range(evidence.at(smoke=4, mini=20, paper=100))
    ]
    return Measured(
        checks=measure_maps(
            maps,
            n_rows=evidence.at(smoke=400, mini=6_000, paper=20_000),
            n_compared=evidence.at(smoke=600, mini=1_000, paper=2_000),
        ),
        remark=f"{len(maps)} maps of the infinite family, with rotations drawn "
        "uniformly. Joint laws are compared by the energy distance of independent "
        "samples and a permutation test for each map.",
    )


def measure_maps(maps: Sequence[_Map], *, n_rows: int, n_compared: int) -> list[Check]:
    """Return checks of the theorem for maps of independent uniform latents.

    Args:
        maps: Maps of codes ``(n_rows, 8)``, two or more, each with its Jacobian.
        n_rows: Points at which slopes and scores are measured.
        n_compared: Number of rows of each of the two samples that are compared.
    """
    factors = _draw(n_rows, "points")
    moved = [entangle(factors) for entangle in maps]
    p_values = [
        _p_value(entangle, n_compared, number) for number, entangle in enumerate(maps)
    ]
    combined: Any = combine_pvalues(p_values, method="fisher")
    slopes = [entangle.jacobian(factors) for entangle in maps]
    return [
        Check(
            quantity="joint law of codes before and after the map: p-value of the "
            f"energy test, combined over {len(maps)} maps",
            expected=f"above {_LEVEL:g}: the same law",
            value=float(combined.pvalue),
            least=_LEVEL,
        ),
        Check(
            quantity="control, codes with the same marginals and dependent latents: "
            "p-value of the energy test",
            expected=f"below {_LEVEL:g}: the test can tell",
            value=_p_value(_dependent, n_compared, len(maps)),
            most=_LEVEL,
        ),
        Check(
            quantity="share of slopes of a latent along a factor that are zero, over "
            "all maps and points",
            expected="0: every latent depends on every factor almost everywhere",
            value=float(np.mean([(one == 0).mean() for one in slopes])),
            most=0.0,
        ),
        Check(
            quantity="least mean change of a latent when one factor moves by a tenth "
            "of its range, over all maps",
            expected="above 0",
            value=min(_least_change(entangle, factors) for entangle in maps),
            least=1e-6,
        ),
        Check(
            quantity="least distance between the codes of two maps, root mean square",
            expected="above 0: all maps differ",
            value=min(
                float(np.sqrt(np.square(a - b).mean()))
                for a, b in itertools.combinations(moved, 2)
            ),
            least=0.01,
        ),
        Check(
            quantity="MIG of the perfect codes",
            expected="near 1",
            value=_gap(factors, factors),
            least=0.9,
        ),
        Check(
            quantity="highest MIG of the entangled codes, over all maps",
            expected="near 0",
            value=max(_gap(codes, factors) for codes in moved),
            most=0.1,
        ),
    ]


def _draw(n_rows: int, *name: str | int) -> Values:
    return numpy_generator(0, "impossibility", *name).random((n_rows, _N_LATENTS))


def _p_value(entangle: Callable[[Values], Values], n_rows: int, number: int) -> float:
    """Return the p-value of the energy test of codes and entangled codes."""
    plain, mapped = (_draw(n_rows, name, number) for name in ("plain", "mapped"))
    return energy_test(plain, entangle(mapped), seed=number)


def _dependent(codes: Values) -> Values:
    """Return dependent codes with uniform marginals."""
    correlation = np.full((_N_LATENTS, _N_LATENTS), _CONTROL)
    np.fill_diagonal(correlation, 1.0)
    return ndtr(ndtri(codes) @ np.linalg.cholesky(correlation).T)


def _least_change(entangle: Callable[[Values], Values], factors: Values) -> float:
    """Return the smallest mean absolute change of a latent for a step of a factor."""
    before = entangle(factors)
    changes = []
    for factor in range(_N_LATENTS):
        shifted = factors.copy()
        # Toward the center, so that it stays within the range.
        shifted[:, factor] += np.where(factors[:, factor] < 0.5, _STEP, -_STEP)
        changes.append(np.abs(entangle(shifted) - before).mean(axis=0))
    return float(np.min(changes))


def _gap(codes: Values, factors: Values) -> float:
    card = evaluate(codes, factors, metrics="mig", intervals=False, progress=False)
    return float(card["mig"])


CLAIM = Claim(
    name="locatello-impossibility",
    source="Locatello et al. (2019), Theorem 1",
    text="Infinitely many maps mix every latent into every other one and leave their "
    "joint distribution unchanged, so entangled codes cannot be recognized without "
    "labels.",
    measure=measure,
    changed="2026-11-18",
)
