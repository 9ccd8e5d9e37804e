"""Metrics in a file of the user: on the command line, in studies and in analyses."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from whole_command import run_whole

import unbraid
from unbraid.execution import InlineExecutor
from unbraid.metrics import METRICS, Score
from unbraid.reports import write_report
from unbraid.studies import prune, read_study, run_study, study_table
from unbraid.studies.analysis import (
    default_metrics,
    downstream_agreement,
    metric_agreement,
    unsupervised_agreement,
    variance_explained,
)

FILE = """
import numpy as np

from power_of_shares import POWER
from unbraid.metrics import Metric, Score


def first_share(codes, factors):
    return np.corrcoef(codes[:, 0], factors.values[:, 0])[0, 1] ** POWER


def spread(codes, seed):
    return Score(codes.std() + seed, name="spread_of_codes")


def broken(codes):
    raise KeyError("lost")


def mig(codes):
    return 0.0


quick = Metric(first_share, 0.1, bounds=(0.0, 1.0))
number = 3
"""
DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"


@pytest.fixture(autouse=True)
def _forget_files(monkeypatch):
    """Other tests list all metrics."""
    monkeypatch.setattr(METRICS, "_from_files", {})


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "power_of_shares.py").write_text("POWER = 2\n")
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


@pytest.fixture
def table():
    factors = np.random.default_rng(0).integers(0, 5, (300, 2))
    codes = factors + np.random.default_rng(1).normal(size=(300, 2)) * 0.3
    return codes, factors


def test_a_function_in_a_file_is_a_metric(mine, table):
    codes, factors = table
    names = f"mig,{mine}:first_share,{mine}:spread"
    card = unbraid.evaluate(codes, factors, metrics=names, seed=3, progress=False)
    expected = np.corrcoef(codes[:, 0], factors[:, 0])[0, 1] ** 2
    assert card["first_share"] == pytest.approx(expected)
    assert card["first_share"].chance < 0.1 < 0.99 < card["first_share"].ideal
    assert card["spread_of_codes"] == pytest.approx(codes.std() + 3)
    alone = unbraid.evaluate(codes, metrics=f"{mine}:spread", progress=False)
    assert list(alone) == ["spread_of_codes"]
    with pytest.raises(ValueError, match="first_share' needs factors"):
        unbraid.evaluate(codes, metrics=[f"{mine}:first_share"], progress=False)


def test_a_metric_object_in_a_file_keeps_its_properties(mine, table):
    metric = METRICS[f"{mine}:quick"]
    assert (metric.seconds, metric.bounds) == (0.1, (0.0, 1.0))
    card = unbraid.evaluate(*table, metrics=f"{mine}:quick", progress=False)
    assert list(card) == ["first_share"]
    assert isinstance(card["first_share"], Score)


def test_other_processes_import_the_file_again(mine, table):
    """What a worker gets is the path, because it cannot import the module by name."""
    for name in ("first_share", "quick"):
        metric = METRICS[f"{mine}:{name}"]
        sent = pickle.dumps(metric.function)
        assert str(mine).encode() in sent
        assert pickle.loads(sent) == metric.function
        assert pickle.loads(pickle.dumps(metric)) == metric


def test_errors_in_the_file_are_failures_of_its_metric(mine, table):
    card = unbraid.evaluate(*table, metrics=f"mig,{mine}:broken", progress=False)
    assert list(card) == ["mig"]
    assert card.failures == {f"{mine}:broken": "KeyError: 'lost'"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.py:first_share", "There is no file"),
        ("mine.py:other", "does not define other"),
        ("mine.py:number", "3 is not a function or a Metric"),
        ("mine.py:mig", "'mig' is the name of a known metric"),
    ],
)
def test_names_that_cannot_be_used_are_wrong_usage(
    mine, table, tmp_path, name, message
):
    np.save(tmp_path / "z.npy", table[0])
    codes, metrics = str(tmp_path / "z.npy"), str(tmp_path / name)
    done = run_whole("evaluate", "--codes", codes, "--metrics", metrics)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_line_scores_with_it(mine, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("z.npy", table[0])
    pd.DataFrame(table[1], columns=["a", "b"]).to_csv("v.csv", index=False)
    done = run_whole(
        *("evaluate", "--codes", "z.npy", "--factors", "v.csv", "--no-levels"),
        *("--metrics", "mig,mine.py:first_share", "--json", "scores.json"),
    )
    assert done.returncode == 0, done.stderr
    scores = json.loads((tmp_path / "scores.json").read_text())["scores"]
    assert list(scores) == ["mig", "first_share"]


STUDY = f"""
data: {DATA!r}
objective: beta_vae
grid: {{objective.beta: [1, 4]}}
seeds: 2
training: {{steps: 2, n_latents: 2, batch_size: 8}}
network: {{name: dense, widths: [8]}}
evaluation:
  metrics: [mig, "mine.py:spread"]
  rows: 64
"""


def test_a_study_scores_its_runs_with_it_in_any_folder(mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(STUDY)
    run_study(read_study("s.yaml"), "out", executor=InlineExecutor())
    monkeypatch.chdir("/")
    table = study_table(tmp_path / "out")
    assert table["score.spread_of_codes"].notna().all()
    assert f"{mine}:spread" in (tmp_path / "out" / "study.yaml").read_text()
    prune(tmp_path / "out", budget=0, models=True)  # figures of a model take seconds
    page = write_report(tmp_path / "out", tmp_path / "report.html").read_text()
    figures = page.split(">What determines the scores</h2>", 1)[1]
    assert figures.count(">spread_of_codes</text>") > 2


def test_names_between_commas_become_whole_paths(mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = STUDY.replace('[mig, "mine.py:spread"]', "mig, mine.py:spread")
    (tmp_path / "s.yaml").write_text(text)
    spec = read_study("s.yaml").runs()[0]
    assert spec.evaluation.metrics == f"mig,{mine}:spread"


def test_analyses_include_own_metrics_by_default():
    generator = np.random.default_rng(0)
    own = pd.DataFrame(
        {
            "data": "xy_squares",
            "objective.name": ["vae"] * 4 + ["beta_vae"] * 4,
            "objective.beta": [None] * 4 + [2.0] * 4,
            "score.mig": generator.random(8),
            "score.mine": generator.random(8),
            "score.lost": [None] * 8,
            "score.downstream_accuracy": generator.random(8),
            "score.active_units": generator.random(8),
            "score.mig[bins=10]": generator.random(8),
            "final.elbo": generator.random(8),
        }
    )
    assert default_metrics(own)[-1] == "mine"
    assert list(metric_agreement(own).pooled.values.columns) == ["mig", "mine"]
    assert set(variance_explained(own).shares["score"]) == {"mig", "mine"}
    for ask in (downstream_agreement, unsupervised_agreement):
        assert list(ask(own).pooled.values.columns) == ["mig", "mine"]
    assert list(metric_agreement(own, ["mig"]).pooled.values.columns) == ["mig"]
