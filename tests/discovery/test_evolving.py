import pytest

from unbraid import discover
from unbraid.data import open_dataset
from unbraid.discovery import Limits
from unbraid.discovery._proposal_evolving import propose_evolution
from unbraid.execution import InlineExecutor

TEXT = "sprites2d:image_size=16,n_scales=2,n_orientations=2,n_positions=4"


@pytest.mark.parametrize("method", ["pbt", "recursive"])
def test_more_time_buys_larger_populations(method):
    dataset = open_dataset(TEXT)
    sizes = []
    for seconds in (4_000.0, 400_000.0):
        limits = Limits(seconds=seconds, n_workers=2)
        plan = propose_evolution(method, TEXT, dataset, limits)
        evolution = plan.study.runs()[0].evolution
        sizes.append(evolution.population.size * evolution.population.images)
        assert evolution.population.models == 5
        assert plan.seconds <= seconds
    assert sizes[0] < sizes[1]


def test_too_little_time_says_how_much_is_needed():
    dataset, limits = open_dataset(TEXT), Limits(seconds=10.0, n_workers=2)
    with pytest.raises(ValueError, match="needs a budget of at least"):
        propose_evolution("pbt", TEXT, dataset, limits)


def test_an_unknown_method_is_refused(tmp_path):
    with pytest.raises(ValueError, match="recursive"):
        discover(TEXT, tmp_path / "out", method="guess")


@pytest.mark.parametrize("method", ["pbt", "recursive"])
def test_populations_are_bred_and_one_of_their_winners_is_chosen(
    tmp_path, method, monkeypatch, request
):
    module = "unbraid.discovery._proposal_evolving"
    for name, value in {
        "FEWEST_STEPS": 10,
        "_GENERATIONS": 2,
        "_MODELS": 2,
        "_FINAL_SIZE": 2,
        "_SIZES": ((2, 2, 1),),
        "_STRETCH_SECONDS": 0.0,
        "MOST_STEPS": 100,
    }.items():
        monkeypatch.setattr(f"{module}.{name}", value)
    monkeypatch.setattr("unbraid.discovery._budget._FIXED_SECONDS", 0.0)
    options = {"method": method, "budget": "1h", "executor": InlineExecutor()}
    found = discover(TEXT, tmp_path / "out", **options)
    text = found.summary.read_text()
    assert "Tried: 2 populations of 2 members with 2 models each" in text
    how = {"pbt": "by agreement", "recursive": "recursively"}[method]
    assert f"beta_tc_vae bred {how}" in text
    assert found.report is not None
    # Everything is there, so that the same call computes nothing.
    request.getfixturevalue("without_pages")
    again = discover(TEXT, tmp_path / "out", **options)
    assert again.ranking == found.ranking
