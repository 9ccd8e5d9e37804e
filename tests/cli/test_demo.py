"""The choice of the demo, with its real budget."""

import pytest

from unbraid.cli._demo import BUDGET, DATA
from unbraid.discovery import discover


@pytest.mark.slow
def test_the_choice_of_the_demo_is_not_below_the_median_of_its_population(tmp_path):
    found = discover(DATA, tmp_path, budget=BUDGET)
    assert found.quality is not None
    assert found.quality.chosen >= found.quality.median
    assert found.quality.chosen > 0.3
    assert len(found.latents) >= 3
