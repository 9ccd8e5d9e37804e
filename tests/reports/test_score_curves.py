"""Scores during training in figures and pages."""

import numpy as np
import pytest
from miniature_study import MINIATURE

from unbraid.execution import InlineExecutor
from unbraid.reports import draw_score_curves, write_report
from unbraid.studies import run_study, study_from_plain
from unbraid.training import fit, score_curves

RECORDS = [
    {"step": 10, "mig": 0.2, "unfairness": 0.5},
    {"step": 20, "mig": 0.6, "unfairness": 0.3},
    {"step": 30, "mig": 0.4, "unfairness": 0.4},
]


def test_the_best_and_the_last_value_of_each_curve_are_marked():
    curves = score_curves(RECORDS)
    figure = draw_score_curves({name: [curve] for name, curve in curves.items()})
    lines = figure.axes[0].get_lines()
    drawn = [tuple(zip(*line.get_data(), strict=True)) for line in lines]
    assert [drawn[1], drawn[2]] == [((20, 0.6),), ((30, 0.4),)]
    assert [drawn[4], drawn[5]] == [((20, 0.3),), ((30, 0.4),)]  # lower is better
    assert [line.get_marker() for line in lines[1:3]] == ["o", "s"]
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["mig", "unfairness"]
    with pytest.raises(ValueError, match="at least one curve"):
        draw_score_curves({"mig": []})


def test_the_page_of_a_run_shows_its_scores_during_training(squares, tmp_path):
    run = fit(
        "vae", squares, steps=20, n_latents=3, network="dense", out=tmp_path,
        score_every=8, score_metrics="mig,active_units", progress=False,
    )  # fmt: skip
    text = write_report(tmp_path, data=squares).read_text()
    assert "Scores during training" in text
    assert "Best and last values" in text
    assert f"{run.score_curves['mig'].best:.3f}" in text
    # A damaged file leaves no trace, and breaks nothing.
    (tmp_path / "scores.jsonl").write_text('{"step": 3, "mig": [1, 2]}\n{"st')
    assert "Scores during training" not in write_report(tmp_path).read_text()


def test_the_page_of_a_study_compares_best_and_last_scores(tmp_path):
    plain = MINIATURE | {
        "methods": {"beta_vae": {"beta": [1, 4]}},
        "seeds": 2,
        "evaluation": {"metrics": ["mig:bins=10"], "rows": 64, "score_every": 8},
    }
    result = run_study(study_from_plain(plain), tmp_path, executor=InlineExecutor())
    text = write_report(tmp_path).read_text()
    assert "mig[bins=10] during training" in text
    assert "has the highest mig[bins=10]" in text  # there is no other score to rank by
    assert "Nothing was chosen by these scores" in text
    best = [run.score_curves["mig[bins=10]"].best for run in result.runs]
    for pair in (best[:2], best[2:]):
        assert f"{np.mean(pair):.3f}" in text
