"""Scores during training in studies: settings, files, table and estimated time."""

import json

import pytest
from miniature_study import MINIATURE

from unbraid.studies import estimate, study_from_plain, study_table
from unbraid.training import score_curves

EVALUATION = {"metrics": ["mig", "unfairness:n_train=20"], "rows": 64}


def spec_of(**evaluation):
    plain = MINIATURE | {"evaluation": EVALUATION | evaluation}
    return study_from_plain(plain).runs()[0]


def test_a_study_scores_its_runs_during_training(run_here, tmp_path):
    result = run_here(evaluation=EVALUATION | {"score_every": 8}, seeds=2)
    assert result.done == 2
    table = study_table(tmp_path / "study")
    for run, row in zip(result.runs, table.to_dict("records"), strict=True):
        path = run.cell.files.path / "scores.jsonl"
        records = [json.loads(line) for line in path.read_text().splitlines()]
        assert [record["step"] for record in records] == [8, 16, 20]
        final = run.scores["scores"]
        for name, curve in score_curves(records).items():
            # The last scores are those of the finished run, to the last digit.
            assert curve.last == final[name]["value"] == row[f"score.{name}"]
            assert curve.best == row[f"best.{name}"]
            assert curve.best_step == row[f"best_step.{name}"]
            assert curve.decay == row[f"decay.{name}"]
    names = [name for name in table if name.startswith("best.")]
    assert names == ["best.mig", "best.unfairness[n_train=20]"]


def test_only_studies_that_ask_for_it_have_columns_and_other_ids(run_here, tmp_path):
    assert spec_of().to_plain()["evaluation"] == EVALUATION | {"seed": 0}
    assert spec_of(score_every=None).id("data") == spec_of().id("data")
    assert spec_of(score_every=8).id("data") != spec_of().id("data")
    run_here()
    columns = study_table(tmp_path / "study").columns
    assert not any(name.startswith(("best", "decay")) for name in columns)


@pytest.mark.parametrize("score_every", [0, -1, 1.5, "often"])
def test_wrong_steps_are_refused(score_every):
    with pytest.raises(ValueError, match="evaluation.score_every"):
        spec_of(score_every=score_every)


def test_populations_are_not_scored_during_training():
    plain = MINIATURE | {"evolution": {"method": "supervised"}}
    study = study_from_plain(plain | {"evaluation": EVALUATION | {"score_every": 5}})
    with pytest.raises(ValueError, match="needs a run without evolution"):
        study.runs()


def test_the_estimated_time_counts_all_scores():
    # With metrics that take so long that training and encoding do not count.
    slow = {"metrics": ["dci:variant=dlib"], "rows": 15_000}
    once = estimate([spec_of(**slow)]).seconds
    often = estimate([spec_of(**slow, score_every=8)]).seconds
    assert once > 100
    assert often / once == pytest.approx(4.0, rel=0.1)
