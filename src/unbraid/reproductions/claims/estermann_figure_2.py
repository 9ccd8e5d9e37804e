"""Populations scored by agreement alone learn the two positions."""

from typing import Any

import numpy as np

from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._intervals import mean_of
from unbraid.reproductions._learned_factors import learned_factors
from unbraid.reproductions._populations import RECURSIVE, stage_folders
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._scores_by_group import draw_lines

_POSITIONS = ("position_x", "position_y")


def measure(evidence: Evidence) -> Measured:
    """What the winners of first populations know of each factor."""
    found = evidence.kept("learned", lambda: _learned(evidence))
    known = {name: np.array([row[name] for row in found]) for name in found[0]}
    others = [name for name in known if name not in _POSITIONS]
    least = np.minimum(*(known[name] for name in _POSITIONS))
    most = np.max([known[name] for name in others], axis=0)
    apart, of_apart = mean_of(least - most)
    held, of_held = mean_of(least)
    checks = [
        Check(
            quantity="the position known less, less the best known other factor",
            expected="above 0: x and y, consistently",
            value=apart,
            interval=of_apart,
            least=0.0,
        ),
        Check(
            quantity="share of the position known less that one latent knows",
            expected="clearly above 0",
            value=held,
            interval=of_held,
            least=0.2,
        ),
    ]
    figure = draw_lines(
        [name.replace("_", " ") for name in known],
        {
            f"seed {seed}": [values[seed] for values in known.values()]
            for seed in range(len(found))
        },
        across="factor",
        up="known to its best latent",
    )
    return Measured(
        checks=checks,
        figure=figure,
        remark="The first populations of the recursions of Figure 6, which are such "
        "populations.",
    )


def _learned(evidence: Evidence) -> list[dict[str, Any]]:
    first: dict[int, Any] = {}
    for cell in evidence.cells(RECURSIVE):
        first.setdefault(cell.spec.seed, cell)
    return [
        learned_factors(stage_folders(cell)["root"], cell.spec.data)
        for _, cell in sorted(first.items())
    ]


CLAIM = Reproduction(
    name="estermann-figure-2",
    source="Estermann et al. (2020), Figure 2",
    claim="Populations that are scored by their agreement alone disentangle the x and "
    "y position, and nothing else, with every seed.",
    measure=measure,
    studies=(RECURSIVE,),
)
