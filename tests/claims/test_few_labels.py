"""Populations with few labels against models that are trained on the labels."""

from types import SimpleNamespace

import pytest

from unbraid_claims import CLAIMS


def cell(seed, value, *, beta=None, labels=100, generations=10):
    """A population, or a semi-supervised model with a strength."""
    evolution = SimpleNamespace(
        method="supervised",
        metric="mig",
        labels=labels,
        population=SimpleNamespace(generations=generations),
    )
    scores = {name: {"value": value} for name in ("mig", "dci_disentanglement")}
    return SimpleNamespace(
        spec=SimpleNamespace(
            data="dsprites",
            seed=seed,
            evolution=evolution if beta is None else None,
            objective={"name": "semi_supervised", "base": {"beta": beta}},
        ),
        files=SimpleNamespace(read_scores=lambda: {"scores": scores}),
    )


class Hand:
    """Evidence made by hand."""

    def __init__(self, lead):
        seeds = range(5)
        self._cells = {
            "estermann-2020-fig1": [
                *(cell(seed, 0.3 + lead + 0.01 * seed) for seed in seeds),
                # Neither all labels nor models trained apart are what is compared.
                *(cell(seed, 0.9 + 0.01 * seed, labels=None) for seed in seeds),
                *(cell(seed, 0.01 * seed, generations=1) for seed in seeds),
            ],
            "estermann-2020-fig1-plain": [
                cell(seed, value + 0.01 * seed, beta=beta)
                for beta, value in ((1, 0.1), (4, 0.3))
                for seed in seeds
            ],
        }

    def cells(self, name):
        return self._cells[name]


@pytest.mark.parametrize(
    ("lead", "expected"), [(0.1, "holds"), (-0.1, "does not hold")]
)
def test_the_best_strength_is_what_populations_must_beat(lead, expected):
    found = CLAIMS["estermann-figure-1b"].measure(Hand(lead))
    assert found.verdict == expected
    assert [check.value for check in found.checks] == pytest.approx([lead, lead])
