"""Scores during training: what is scored, when, and that nothing else changes."""

import json

import numpy as np
import pytest
import torch

import unbraid
from unbraid.data import LabeledImages, XYSquares
from unbraid.foundation import CheckpointFormatError
from unbraid.models.networks import Dense
from unbraid.training import (
    Run,
    ScoreSettings,
    fit,
    score_curves,
    specify,
    train_run,
)

DATA = XYSquares(image_size=8, square_size=1, n_squares=1, rgb=False)
SETTINGS = {
    "steps": 50,
    "n_latents": 3,
    "batch_size": 8,
    "log_every": 10,
    "network": Dense(widths=(8,)),
}


def train(out=None, objective="beta_vae", data=DATA, **options):
    return fit(objective, data, out=out, progress=False, **SETTINGS, **options)


def weights(model):
    return torch.nn.utils.parameters_to_vector(model.parameters())


def test_scores_are_those_of_evaluate_and_training_is_the_same(tmp_path):
    metrics = ["mig", {"name": "sap", "score": "r2"}, "linearity"]
    options = {"score_every": 15, "score_metrics": metrics, "score_rows": 40}
    scored = train(tmp_path / "scored", **options)
    plain = train(tmp_path / "plain")
    assert torch.equal(weights(scored.model), weights(plain.model))
    speed = "images_per_second"
    for one, other in zip(scored.history, plain.history, strict=True):
        assert one | {speed: 0} == other | {speed: 0}
    assert [record["step"] for record in scored.scores] == [15, 30, 45, 50]
    card = unbraid.evaluate(scored.model, DATA, metrics=metrics, rows=40)
    expected = {"step": 50, **{name: float(score) for name, score in card.items()}}
    assert scored.scores[-1] == expected
    assert "sap[score=r2]" in expected
    assert plain.scores == []
    assert not (tmp_path / "plain" / "scores.jsonl").exists()
    lines = (tmp_path / "scored" / "scores.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == scored.scores
    assert Run.load(tmp_path / "scored").scores == scored.scores


def test_a_snapshot_is_scored_as_it_is_at_its_step():
    run = train(score_every=20)
    early = fit(
        "beta_vae", DATA, progress=False, score_every=20, **SETTINGS | {"steps": 20}
    )
    assert run.scores[0] == early.scores[-1]
    assert run.scores[0] != run.scores[-1] | {"step": 20}


def test_a_paused_run_ends_with_the_same_scores(tmp_path):
    spec = specify("beta_vae", DATA, **SETTINGS)
    settings = ScoreSettings(every=20)
    for until in (20, 30, None):
        run = train_run(
            spec,
            DATA,
            out=tmp_path / "paused",
            scores=settings,
            log_every=10,
            until=until,
            progress=False,
        )
    whole = train(tmp_path / "whole", score_every=20)
    assert run.scores == whole.scores
    files = [tmp_path / name / "scores.jsonl" for name in ("paused", "whole")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_lines_after_the_last_state_are_scored_again(tmp_path):
    spec, settings = specify("beta_vae", DATA, **SETTINGS), ScoreSettings(every=10)
    options = {"scores": settings, "log_every": 10, "progress": False}
    train_run(spec, DATA, out=tmp_path, until=20, **options)
    path = tmp_path / "scores.jsonl"
    path.write_bytes(path.read_bytes() + b'{"step": 30, "mig": 0.5}\n{"step": 4')
    run = train_run(spec, DATA, out=tmp_path, **options)
    assert run.scores == train(score_every=10).scores
    assert len(path.read_bytes().splitlines()) == 5


def test_a_folder_with_other_scores_is_another_run(tmp_path):
    train(tmp_path, score_every=20)
    for options in ({"score_every": 10}, {"score_every": 20, "score_rows": 9}, {}):
        with pytest.raises(CheckpointFormatError, match="score_every"):
            train(tmp_path, **options)
    assert train(tmp_path, score_every=20).scores


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"score_every": 0}, "score_every must be"),
        ({"score_every": 5, "score_rows": 1}, "score_rows must be"),
        ({"score_every": 5, "score_metrics": "mgi"}, "Did you mean 'mig'"),
        ({"score_every": 5, "score_metrics": "mig:bin=3"}, "Did you mean 'bins'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_written(options, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        train(tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_metrics_that_need_factors_are_refused_without_them():
    images = DATA.images(np.arange(len(DATA)))
    with pytest.raises(ValueError, match="'mig' needs factors"):
        train(data=images, score_every=25)
    run = train(data=images, score_every=25, score_metrics="standard")
    assert "active_units" in run.scores[-1]


def test_what_cannot_be_scored_is_a_warning_and_no_failure():
    run = train(
        objective="ae", score_every=25, score_metrics="mig,mig:estimator=posterior"
    )
    assert list(run.scores[-1]) == ["step", "mig"]
    (warning,) = (each for each in run.warnings if each.name == "no_score")
    assert "mig[estimator=posterior]: " in warning.message
    assert "log-variances" in warning.message

    images = DATA.images(np.arange(len(DATA)))
    constant = LabeledImages(images, np.zeros(len(images)), factor_names=("none",))
    run = train(data=constant, score_every=25)
    assert run.scores == [{"step": 25}, {"step": 50}]
    assert "mig: " in run.warnings[-1].message
    assert train(data=constant, score_every=25, score_metrics="active_units").scores[0]


def test_curves_have_a_best_value_in_the_direction_of_the_score():
    values = {"unfairness": [0.3, 0.1, 0.4], "mig": [0.3, 0.1, 0.2]}
    records = [
        {"step": 10 * step, **{name: part[step] for name, part in values.items()}}
        for step in range(3)
    ]
    records.append({"step": 30, "mig": 0.25})
    curves = score_curves(records)
    unfairness, mig = curves["unfairness"], curves["mig"]
    assert (unfairness.best, unfairness.best_step, unfairness.last) == (0.1, 10, 0.4)
    assert unfairness.decay == pytest.approx(0.3)
    assert (mig.best, mig.best_step, mig.last) == (0.3, 0, 0.25)
    assert mig.decay == pytest.approx(0.05)
    assert mig.steps.tolist() == [0, 10, 20, 30]
    assert score_curves([]) == {}
