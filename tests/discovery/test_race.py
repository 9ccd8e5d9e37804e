"""The race between configurations: its rounds, how they are judged, and kills."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import ortho_group
from small_discovery import lamps, plan_race

from unbraid.data import LabeledImages, Vectors
from unbraid.discovery import Limits, bearable_strength, discover, judge, read_plan
from unbraid.discovery._proposal import choose_strengths, propose, relax
from unbraid.execution import InlineExecutor
from unbraid.foundation import from_plain
from unbraid.models import RECORDS, SCHEDULES, fill_steps
from unbraid.representation import Representation
from unbraid.studies import Cost, Preview, StudyFolder
from unbraid.training import specify, train_run

GENERATOR = np.random.default_rng(0)
FACTORS = GENERATOR.normal(size=(500, 4))


def preview(codes, *, n_active=None, elbo=-10.0):
    codes = np.asarray(codes, dtype=np.float64)
    log_variances = np.full_like(codes, -4.0)
    n_active = codes.shape[1] if n_active is None else n_active
    codes = codes.copy()
    codes[:, n_active:], log_variances[:, n_active:] = 0.0, 0.0
    fit = {"elbo": elbo, "reconstruction": 8.0, "kl": 2.0, "active_latents": n_active}
    return Preview(100, Representation(codes, log_variances=log_variances), fit)


def aligned(n_latents):
    """Two seeds that find the same latents, in another order."""
    return [preview(FACTORS[:, :n_latents]), preview(-FACTORS[:, :n_latents][:, ::-1])]


def rotated(n_latents):
    """Two seeds that find the same content in other directions."""
    codes = FACTORS[:, :n_latents]
    turns = [ortho_group.rvs(n_latents, random_state=seed) for seed in (1, 2)]
    return [preview(codes @ turn) for turn in turns]


def kept(standings):
    return [standing.name for standing in standings if standing.is_kept]


def test_configurations_whose_seeds_agree_are_kept():
    found = judge({"mixed": rotated(4), "clear": aligned(4)}, n_kept=1)
    assert kept(found) == ["clear"]
    mixed, clear = found
    assert clear.agreement > 0.9 > mixed.agreement
    assert clear.score > 3.4
    assert abs(mixed.score) < 1.5


def test_more_latents_that_are_found_again_beat_fewer_with_perfect_agreement():
    noisy = [
        preview(FACTORS + GENERATOR.normal(size=FACTORS.shape) * 0.2) for _ in "ab"
    ]
    found = judge({"two latents": aligned(2), "four latents": noisy}, n_kept=1)
    assert found[0].agreement > found[1].agreement
    assert kept(found) == ["four latents"]


def test_near_ties_are_decided_by_the_elbo():
    def noisy(noise, elbo):
        return [
            preview(FACTORS + GENERATOR.normal(size=FACTORS.shape) * noise, elbo=elbo)
            for _ in "ab"
        ]

    near = judge({"strong": noisy(0.1, -12.0), "weak": noisy(0.15, -9.0)}, n_kept=1)
    assert 0 < near[0].score - near[1].score < 0.2
    assert kept(near) == ["weak"]
    far = judge({"strong": noisy(0.1, -12.0), "weak": noisy(0.4, -9.0)}, n_kept=1)
    assert far[0].score - far[1].score > 0.2
    assert kept(far) == ["strong"]


def test_dead_configurations_and_single_seeds_come_last():
    dead = [preview(FACTORS, n_active=0)] * 2
    given = {"dead": dead, "lost": [], "one": aligned(4)[:1], "mixed": rotated(3)}
    found = judge(given, n_kept=1)
    assert kept(found) == ["mixed"]
    assert kept(judge(given, n_kept=2)) == ["one", "mixed"]
    assert all(np.isfinite(standing.score) for standing in found)


def test_configurations_that_failed_come_after_dead_ones():
    dead = [preview(FACTORS, n_active=0)] * 2
    found = judge({"failed": [], "dead": dead}, n_kept=1)
    assert kept(found) == ["dead"]
    assert found[0].elbo is found[0].active_latents is None


def test_strengths_grow_are_different_and_at_least_one():
    for bearable in (0.0, 0.3, 1.0, 5.4, 40.0, 1e4):
        for number in range(1, 8):
            betas = choose_strengths(bearable, number)
            assert len(betas) == number
            assert min(betas) >= 1.0
            assert all(later / earlier > 1.39 for earlier, later in pairwise(betas))


def scaled_eigenvalues(images):
    """All eigenvalues of the covariance of images in units of the noise, in order."""
    values = images.reshape(len(images), -1) / 255
    mean = values.mean(axis=0)
    scaled = (values - mean) / np.sqrt(np.maximum(mean * (1 - mean), 0.01))
    return np.linalg.eigvalsh(scaled.T @ scaled / len(values))[::-1]


def test_the_bearable_strength_is_the_third_largest_eigenvalue_in_units_of_the_noise():
    dataset = lamps()
    expected = scaled_eigenvalues(dataset.images(np.arange(len(dataset))))
    assert bearable_strength(dataset) == pytest.approx(expected[2], rel=1e-4)
    for n_latents in (1, 2, 3):
        found = bearable_strength(dataset, n_latents)
        assert found == pytest.approx(expected[n_latents - 1], rel=1e-4)
    # The lamps are the only factors.
    assert bearable_strength(dataset, 4) == pytest.approx(0.0, abs=1e-9)


def test_the_bearable_strength_of_lamps_is_their_number_of_pixels():
    """A lamp of n pixels has the eigenvalue n v / (p (1 - p))."""
    levels = np.arange(6) / 5
    ratio = levels.var() / (levels.mean() * (1 - levels.mean()))
    for n_latents, n_pixels in ((1, 36), (2, 18), (3, 10)):
        found = bearable_strength(lamps(), n_latents)
        assert found == pytest.approx(n_pixels * ratio, rel=1e-4)


@pytest.mark.parametrize("n_latents", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    "values",
    [
        np.repeat([[0, 255], [255, 0]], 32, axis=0),
        np.eye(64) * 255,
        np.eye(3) * 255,
        np.zeros((40, 4)),
        np.full((1, 4), 9),
        np.arange(20).reshape(4, 5) ** 2 % 255,
    ],
)
def test_the_bearable_strength_of_symmetric_few_and_constant_images(values, n_latents):
    images = values.astype(np.uint8).reshape(len(values), 1, 1, -1)
    eigenvalues = scaled_eigenvalues(images)
    is_there = n_latents <= min(values.shape)
    expected = eigenvalues[n_latents - 1] if is_there else 0.0
    data = LabeledImages(images, channels_first=True)
    found = bearable_strength(data, n_latents)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_the_bearable_strength_of_vectors_counts_from_a_variance_of_one_half():
    vectors = np.random.default_rng(0).normal(size=(500, 4)) * [5.0, 3.0, 2.0, 1.0]
    expected = np.linalg.eigvalsh(np.cov(vectors.T, bias=True))[::-1] / 0.5
    data = Vectors(vectors)
    assert bearable_strength(data) == pytest.approx(expected[2], rel=1e-4)
    with pytest.raises(ValueError, match="n_latents must be at least 1, got 0"):
        bearable_strength(data, 0)


def test_strengths_fall_to_a_quarter_but_not_below_one():
    for strength, end in (
        (40.0, 10.0),
        (14.0, 3.5),
        (6.1, 1.5),
        (3.0, 1.0),
        (1.2, 1.0),
    ):
        schedule = from_plain(relax(strength), SCHEDULES)
        filled = fill_steps(schedule, 1_000)
        assert [filled.at(step) for step in (0, 399, 400)] == [strength] * 3
        assert filled.at(550) == pytest.approx((strength + end) / 2)
        assert [filled.at(step) for step in (700, 999)] == [end] * 2
    assert relax(1.0) == 1.0
    assert relax(1.0, offset=-1.0) == 0.0


def test_another_plan_over_the_same_runs_judges_them_at_the_same_steps(tmp_path):
    plan_race(tmp_path, lamps())
    discover(lamps(), tmp_path, executor=InlineExecutor())
    first = read_plan(tmp_path)
    plan_race(tmp_path, lamps(), asked=1_000.0)
    discover(lamps(), tmp_path, budget=1_000.0, executor=InlineExecutor())
    assert read_plan(tmp_path).results == first.results


@pytest.mark.parametrize("seconds", [40.0, 180.0, 600.0, 3_600.0])
@pytest.mark.parametrize("n_workers", [1, 2, 8])
def test_every_race_ends_with_three_seeds_and_pauses_before_anything_falls(
    tmp_path, monkeypatch, seconds, n_workers
):
    cost = Cost(per_step=1e-3, fixed=0.5, n_bytes=0)
    monkeypatch.setattr(
        "unbraid.discovery._proposal.measure_run", lambda *_, **__: cost
    )
    data = "xy_squares:image_size=8,square_size=1,n_squares=1"
    dataset = lamps()
    plan = propose(data, dataset, Limits(seconds=seconds, n_workers=n_workers))
    *rounds, last = plan.rungs
    assert last.n_seeds >= 3
    assert last.steps == plan.steps
    decay = plan.study.runs()[0].training.learning_rate
    for rung, later in pairwise(plan.rungs):
        assert rung.n_configurations > later.n_configurations
        assert rung.n_seeds >= 2
        assert rung.steps % 100 == 0
    for rung in rounds:
        assert rung.steps <= (1 - decay.share) * plan.steps
        assert rung.steps <= (0.7 - 0.3) * plan.steps
    for run in plan.study.runs():
        beta = fill_steps(from_plain(run.objective["beta"], SCHEDULES), plan.steps)
        if isinstance(beta, float):
            assert beta == 1.0
            continue
        assert beta.at(int(0.4 * plan.steps)) == beta.value > 1.0
        # The end is rounded to two digits.
        assert beta.at(plan.steps) == pytest.approx(max(1.0, beta.value / 4), rel=0.04)
        assert beta.at(plan.steps) >= 1.0
    assert sum(rung.seconds for rung in plan.rungs) <= seconds


@pytest.mark.parametrize("pause", [16, 20, 32])
def test_a_run_whose_strength_falls_continues_after_a_pause_to_the_same_bytes(
    tmp_path, pause
):
    dataset = lamps()
    objective = from_plain({"name": "beta_tc_vae", "beta": relax(8.0)}, RECORDS)
    spec = specify(objective, dataset, steps=40, recipe="small", batch_size=8)
    options = {"device": "cpu", "log_every": 4, "progress": False}
    train_run(spec, dataset, out=tmp_path / "whole", **options)
    train_run(spec, dataset, out=tmp_path / "parts", until=pause, **options)
    train_run(spec, dataset, out=tmp_path / "parts", **options)
    whole, parts = (
        (tmp_path / folder / "model.safetensors").read_bytes()
        for folder in ("whole", "parts")
    )
    assert whole == parts


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raced")
    plan_race(folder, lamps())
    return discover(lamps(), folder, executor=InlineExecutor())


def test_a_race_chooses_among_the_configurations_that_reach_the_end(raced):
    plan = read_plan(raced.folder)
    assert [len(standings) for standings in plan.results] == [3, 2]
    assert [len(kept(standings)) for standings in plan.results] == [2, 1]
    finalists = kept(plan.results[-1])
    assert raced.ranking.chosen.split(",")[0] in finalists
    assert {model.specification for model in raced.ranking.models} == set(finalists)
    assert len(raced.ranking.models) == 3


def test_a_strength_that_kills_all_latents_does_not_survive_the_first_round(raced):
    plan = read_plan(raced.folder)
    dead = next(s for s in plan.results[0] if s.name == "beta_vae beta=1000")
    assert dead.active_latents == 0
    assert not dead.is_kept


def test_runs_that_were_dropped_are_paused_and_not_part_of_the_study(raced):
    study = StudyFolder(raced.folder / "study")
    states = [cell.files.state for cell in study.cells]
    assert states == ["done"] * 3
    runs = list((raced.folder / "study" / "runs").iterdir())
    unfinished = [run for run in runs if not (run / "scores.json").is_file()]
    # 3 x 2 in the first round and one more seed of 2 in the second.
    assert len(runs) == 8
    assert len(unfinished) == 5
    for run in unfinished:
        assert json.loads((run / "status.json").read_text())["status"] == "paused"


def test_the_summary_lists_the_rounds(raced):
    text = raced.summary.read_text()
    assert "3 configurations with 2 seeds each up to step 200; kept: " in text
    assert "1 configuration with 3 seeds up to step 800\n" in text


def test_a_second_call_judges_and_trains_nothing(raced, monkeypatch):
    monkeypatch.setattr("unbraid.discovery._race.judge", None)
    runs = raced.folder / "study" / "runs"
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*.json")}
    again = discover(lamps(), raced.folder, executor=InlineExecutor())
    assert before == {path: path.stat().st_mtime_ns for path in runs.rglob("*.json")}
    assert again.ranking == raced.ranking


def test_a_plan_whose_standings_do_not_fit_is_made_anew(raced, tmp_path):
    path = raced.folder / "plan.json"
    words = json.loads(path.read_text())
    words["results"][0].pop()
    (tmp_path / "plan.json").write_text(json.dumps(words))
    assert read_plan(tmp_path) is None


def contents(folder):
    names = ("codes.npy", "model/model.safetensors", "study/table.csv")
    found = {name: (folder / name).read_bytes() for name in names}
    about = json.loads((folder / "discovery.json").read_text())
    return found | {"ranking": about["ranking"], "plan": about["plan"]}


@pytest.mark.parametrize("n_kills", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_a_race_that_is_killed_in_every_round_ends_with_the_same_bytes(
    n_kills, tmp_path
):
    np.save(tmp_path / "lamps.npy", lamps().images(np.arange(216)))
    data = f"{tmp_path / 'lamps.npy'}:channels_first=true"
    for name in ("whole", "killed"):
        plan_race(tmp_path / name, data)
    whole = discover(data, tmp_path / "whole", executor=InlineExecutor())
    command = [sys.executable, "-m", "unbraid", "discover", data, "--workers", "1"]
    command += ["--out", str(tmp_path / "killed")]
    plan_file = tmp_path / "killed" / "plan.json"
    n_rounds = len(json.loads(plan_file.read_text())["rungs"])
    generator = random.Random(0)
    rounds_killed = set()
    for number in range(n_kills):
        # Ever later rounds, several times each.
        wanted = f"Round {1 + number * n_rounds // n_kills}"
        options = {"start_new_session": True, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **options) as process:
            for line in process.stderr:
                if line.startswith("Round ") and line.split(":")[0] >= wanted:
                    break
            time.sleep(generator.uniform(0.0, 1.0))
            assert process.poll() is None
            os.killpg(process.pid, signal.SIGKILL)
        rounds_killed.add(len(json.loads(plan_file.read_text())["results"]))
    assert len(rounds_killed) >= 2
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "killed") == contents(whole.folder)
