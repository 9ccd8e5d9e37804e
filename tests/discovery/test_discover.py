"""Claims about discover: what it writes, how it goes on, and what it refuses."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from small_discovery import SQUARES, lamps, plan_small

import unbraid
from unbraid.data import ImageFolder, LabeledImages, float_images
from unbraid.discovery import (
    Discovery,
    Limits,
    _proposal,
    _write_discovery,
    discover,
    plan_discovery,
    read_plan,
)
from unbraid.discovery._chosen import measure_explained
from unbraid.discovery._data import downscale, read_source, reopen_source
from unbraid.discovery._evidence import collect_evidence
from unbraid.discovery._labels import read_labels
from unbraid.discovery._proposal import propose
from unbraid.discovery._summary import _give_advice
from unbraid.execution import InlineExecutor
from unbraid.foundation import FolderInUseError, locked, parse_duration
from unbraid.selection import Ranking
from unbraid.studies import Cost, StudyFolder, read_records


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("found")
    plan_small(folder, lamps(), betas=(0.3, 1), steps=800)
    return discover(lamps(), folder, executor=InlineExecutor())


def test_the_chosen_model_is_better_than_most(found):
    assert found.quality.better_than > 0.5
    assert found.quality.chosen > 0.4


def test_the_chosen_model_can_be_loaded_and_gives_the_codes(found):
    model = unbraid.load(found.folder / "model")
    codes = np.load(found.folder / "codes.npy")
    assert codes.shape == (216, 4)
    again = unbraid.encode(model, lamps(), progress=False).codes
    np.testing.assert_allclose(codes, again, atol=1e-5)


def test_a_discovery_is_shown_in_a_line_and_as_a_table(found):
    assert repr(found).startswith(f"Discovery(chosen={found.ranking.chosen!r}, ")
    assert repr(found).endswith(f"folder={str(found.folder)!r})")
    assert len(repr(found)) < 300
    page = found._repr_html_()
    assert page.count("<tr>") == 1 + len(found.latents)
    assert str(found.report) in page
    assert f"Chosen: {found.ranking.chosen}." in page
    refused = Ranking((), (), None, "The seeds <disagree>.")
    nothing = replace(found, ranking=refused, model=None, latents=(), explained=None)
    assert repr(nothing) == f"Discovery(chosen=None, folder={str(found.folder)!r})"
    assert "Chosen: no model. The seeds &lt;disagree&gt;." in nothing._repr_html_()


def test_the_account_says_what_was_tried_and_chosen_and_how_good_it_was(found):
    text = found.summary.read_text()
    assert "2 configurations with 3 seeds each, 800 steps" in text
    assert f"Chosen: {found.ranking.chosen}." in text
    assert f"MIG {found.quality.chosen:.3f}" in text
    assert str(found.folder / "traversals.png") in text


def test_the_report_shows_the_choice_and_what_it_rests_on(found):
    page = found.report.read_text()
    assert found.report == found.folder / "report.html"
    assert f"Chosen without labels: {found.ranking.chosen}." in page
    assert "Agreement between models" in page
    assert "What each latent does" in page
    chosen = found.ranking.chosen.split(",")[0]
    assert f"Training dynamics of {chosen}, which was chosen" in page
    assert 'download="dynamics.csv"' in page
    about = json.loads((found.folder / "discovery.json").read_text())
    assert about["report"] == str(found.report)
    assert len(about["evidence"]["pairs"]) == 6


def test_what_the_model_has_not_learned_is_said_and_shown(found):
    share = f"{found.explained:.0%}"
    assert f"It reconstructs {share} of the variation" in found.summary.read_text()
    picture = found.folder / "worst-reconstructions.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in found.summary.read_text()
    page = found.report.read_text()
    assert f"reconstructs {share} of the variation" in page
    assert "variation reconstructed" in page
    assert 'download="worst-reconstructions.csv"' in page
    assert found.failures == ()
    assert "ailed to learn" not in page + found.summary.read_text()


def test_a_report_that_cannot_be_drawn_loses_nothing_else(tmp_path, monkeypatch):
    def fail(*paths, **options):
        raise ZeroDivisionError("no pencil")

    monkeypatch.setattr(_write_discovery, "write_report", fail)
    plan_small(tmp_path, betas=(1_000,), steps=20, seeds=2)
    with pytest.warns(UserWarning, match="could not be drawn .no pencil."):
        result = discover(SQUARES, tmp_path, executor=InlineExecutor())
    assert result.report is None
    assert result.summary.is_file()
    assert json.loads((tmp_path / "discovery.json").read_text())["report"] is None


def test_latents_are_ordered_by_what_they_say(found):
    kls = [latent.kl for latent in found.latents]
    assert kls == sorted(kls, reverse=True)
    assert kls[0] > 0.5
    assert found.latents[0].change > 0.02


def test_an_explorer_of_the_chosen_model_is_in_the_report_and_beside_it(found):
    text = found.report.read_text(encoding="utf-8")
    assert "<iframe" in text
    assert 'href="explorer.html"' in text
    assert (found.folder / "explorer.html").stat().st_size < 5_000_000


def test_everything_found_is_in_one_json_file(found):
    about = json.loads((found.folder / "discovery.json").read_text())
    assert about["ranking"]["chosen"] == found.ranking.chosen
    assert len(about["ranking"]["models"]) == 6
    assert about["quality"]["best"] >= about["quality"]["chosen"]


def test_a_second_call_trains_nothing_and_finds_the_same(found):
    runs = found.folder / "study" / "runs"
    before = {path: path.stat().st_mtime_ns for path in runs.glob("*/scores.json")}
    again = discover(lamps(), found.folder, executor=InlineExecutor())
    after = {path: path.stat().st_mtime_ns for path in runs.glob("*/scores.json")}
    assert before == after
    assert again.ranking == found.ranking


def test_labels_change_the_score_and_the_account_says_how_much(found, tmp_path):
    data = lamps()
    rows = np.arange(0, 180, 3)
    table = pd.DataFrame(data.factors(rows), columns=list(data.factor_names))
    table.insert(0, "row", rows)
    table.to_csv(tmp_path / "labels.csv", index=False)
    labels = tmp_path / "labels.csv"
    helped = discover(data, found.folder, labels=labels, executor=InlineExecutor())
    assert helped.ranking.labels.n_labels == 60
    assert "Labels: 60 were given and decided 38% of the score" in (
        helped.summary.read_text()
    )


def test_a_population_with_far_too_large_beta_is_refused(tmp_path):
    plan_small(tmp_path, betas=(1_000, 2_000), steps=150)
    refused = discover(SQUARES, tmp_path, executor=InlineExecutor())
    assert refused.model is None
    assert refused.codes is None
    assert "No model is better than chance" in refused.summary.read_text()
    assert not (tmp_path / "model").exists()
    names = [failure.name for failure in refused.failures]
    assert names == [
        f"beta_vae beta={beta}, seed {seed}"
        for beta in (1_000, 2_000)
        for seed in range(3)
    ]
    (reason,) = {failure.reason for failure in refused.failures}
    assert reason.startswith("No latent is active")
    assert f"  {names[0]}: {reason}\n" in refused.summary.read_text()
    page = refused.report.read_text()
    assert "Runs that failed to learn: 6." in page
    assert all(name in page for name in names)


@pytest.mark.usefixtures("without_pages")
def test_random_encoders_are_refused(tmp_path):
    plan_small(tmp_path, steps=1, learning_rate=1e-9, seeds=4)
    refused = discover(SQUARES, tmp_path, executor=InlineExecutor())
    assert refused.ranking.chosen is None


def test_an_array_of_images_without_labels_is_kept_and_described(tmp_path):
    array = lamps().images(np.arange(216))
    plan_small(tmp_path, array, betas=(1,), steps=200, seeds=2)
    result = discover(array, tmp_path, executor=InlineExecutor())
    assert result.quality is None
    assert "How good" not in result.summary.read_text()


def write_pictures(folder, n_pictures, *, size=8, repeated=False):
    folder.mkdir()
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (size, size), dtype=np.uint8)
    for number in range(n_pictures):
        if not repeated:
            pixels = rng.integers(0, 256, (size, size), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:05}.png")
    return folder


def test_pictures_keep_their_size_and_names(tmp_path):
    folder = write_pictures(tmp_path / "pictures", 40, size=12)
    source = read_source(folder, tmp_path)
    assert source.dataset.image_shape == (1, 16, 16)
    assert source.names[:2] == ("00000.png", "00001.png")
    given = read_source(f"{folder}:image_size=8", tmp_path)
    assert given.dataset.image_shape == (1, 8, 8)


def test_names_that_are_not_text_or_have_two_lines_stay_in_step(tmp_path, request):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number, image in enumerate(lamps().images(np.arange(216))):
        name = {3: b"003\xff.png", 5: b"005\n.png", 7: b"007\\.png"}.get(
            number, b"%03d.png" % number
        )
        Image.fromarray(image[0]).save(
            folder / os.fsdecode(name) if number != 3 else folder / "x.png"
        )
        if number == 3:
            os.rename(folder / "x.png", os.fsencode(folder) + b"/" + name)
    out = tmp_path / os.fsdecode(b"found\xe9\n")
    plan_small(out, folder, betas=(1,), steps=800)
    result = discover(folder, out, executor=InlineExecutor())
    assert result.model is not None
    names = (out / "files.txt").read_text().splitlines()
    assert len(names) == len(np.load(out / "codes.npy")) == 216
    assert names[3] == r"003\xff.png"
    assert names[5] == r"005\n.png"
    assert names[7] == r"007\\.png"
    request.getfixturevalue("without_pages")
    assert discover(folder, out, executor=InlineExecutor()).model is not None
    labels = pd.DataFrame({"file": names[:30], "x": [0, 1, 2] * 10})
    rows = read_labels(labels, 216, read_source(folder, tmp_path).names).rows
    assert rows.tolist() == list(range(30))


@pytest.mark.usefixtures("without_pages")
def test_codes_of_pictures_come_with_the_names_of_their_files(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number, image in enumerate(lamps().images(np.arange(216))):
        Image.fromarray(image[0]).save(folder / f"{number:03}.png")
    out = tmp_path / "found"
    plan_small(out, folder, betas=(1,), steps=800)
    result = discover(folder, out, executor=InlineExecutor())
    assert result.model is not None
    names = (out / "files.txt").read_text().splitlines()
    assert names == [f"{number:03}.png" for number in range(216)]
    assert np.load(out / "codes.npy").shape[0] == 216


def test_labels_that_do_not_vary_cost_no_run(tmp_path):
    images = lamps().images(np.arange(216))
    data = LabeledImages(images, np.zeros((216, 1), dtype=int))
    source = read_source(data, tmp_path)
    plan = propose(source.data, source.dataset, Limits(seconds=3_600.0, n_workers=2))
    assert plan.study.runs()[0].evaluation.metrics == ["active_units"]


def test_three_pictures_are_too_few(tmp_path):
    folder = write_pictures(tmp_path / "pictures", 3)
    with pytest.raises(ValueError, match="at least 32 different images, got 3"):
        discover(folder, tmp_path / "out")


def test_one_picture_repeated_is_too_few(tmp_path):
    folder = write_pictures(tmp_path / "pictures", 50, repeated=True)
    with pytest.raises(ValueError, match="got 1 different among 50"):
        discover(folder, tmp_path / "out")


def test_a_folder_with_another_discovery_is_refused(found):
    with pytest.raises(FileExistsError, match="a discovery in other data"):
        discover(SQUARES, found.folder)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="cannot be written to"):
        discover(SQUARES, tmp_path / "file" / "out")


def discover_small(folder, *, betas, steps, asked):
    plan_small(folder, lamps(), betas=betas, steps=steps, asked=asked)
    return discover(lamps(), folder, budget=asked, executor=InlineExecutor())


def content_of(folder):
    names = ("codes.npy", "summary.txt", "explorer.html", "report.html")
    files = [folder / name for name in (*names, "discovery.json")]
    files += sorted((folder / "model").glob("*"))
    return {path.relative_to(folder): path.read_bytes() for path in files}


def test_a_refusal_keeps_the_earlier_choice_and_a_new_choice_keeps_it_in_the_history(
    tmp_path,
):
    first = discover_small(tmp_path, betas=(0.3, 1), steps=600, asked=600.0)
    assert first.model is not None
    before = content_of(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "model" / "notes.txt").write_text("mine")

    refused = discover_small(tmp_path, betas=(3_000, 4_000), steps=20, asked=700.0)
    assert refused.model is None
    after = content_of(tmp_path)
    assert {path: after[path] for path in before} == before
    assert refused.summary == tmp_path / "history" / "1" / "summary.txt"
    assert "chosen before is still in" in refused.summary.read_text()
    assert refused.report.parent == refused.summary.parent
    again = discover_small(tmp_path, betas=(3_000, 4_000), steps=20, asked=700.0)
    assert again.summary == refused.summary  # the same refusal is kept once

    other = discover_small(tmp_path, betas=(0.3, 1), steps=800, asked=800.0)
    assert other.model is not None
    assert other.summary == tmp_path / "summary.txt"
    assert content_of(tmp_path / "history" / "2") == before
    assert content_of(tmp_path) != before
    assert (tmp_path / "model" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not list(tmp_path.glob(".*"))


def test_the_same_result_again_leaves_everything_as_it_is(found):
    def times():
        paths = [path for path in found.folder.rglob("*") if path.is_file()]
        return {
            path: path.stat().st_mtime_ns
            for path in paths
            if path.relative_to(found.folder).parts[0] not in ("study", "data")
        }

    # Another test may have asked for something else in this folder.
    discover(lamps(), found.folder, executor=InlineExecutor())
    before = times()
    assert found.folder / "model" / "model.json" in before
    discover(lamps(), found.folder, executor=InlineExecutor())
    assert times() == before


@pytest.mark.parametrize("content", ["{}", "my plan", '{"format": 1, "kind": "x"}'])
def test_somebody_elses_plan_is_not_written_over(tmp_path, content):
    (tmp_path / "plan.json").write_text(content)
    (tmp_path / "codes.npy").write_text("mine")
    with pytest.raises(FileExistsError, match="no plan.json that unbraid wrote"):
        discover(SQUARES, tmp_path)
    assert (tmp_path / "plan.json").read_text() == content
    assert (tmp_path / "codes.npy").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 2


def test_two_discoveries_in_one_folder_do_not_both_train(tmp_path):
    with locked(tmp_path / "discover.lock") as is_ours:
        assert is_ours
        with pytest.raises(FolderInUseError, match="another process works in"):
            discover(SQUARES, tmp_path)
    assert not (tmp_path / "study").exists()


@pytest.mark.usefixtures("without_pages")
def test_a_discovery_that_was_killed_as_it_began_goes_on(tmp_path):
    plan_small(tmp_path, betas=(1,), steps=1, seeds=2)
    (tmp_path / "study" / "runs").mkdir(parents=True)
    (tmp_path / "study" / f".data.json.{16 * '0'}.part").touch()
    result = discover(SQUARES, tmp_path, executor=InlineExecutor())
    assert result.summary.is_file()


def test_somebody_elses_files_are_not_written_over(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "precious").touch()
    with pytest.raises(FileExistsError, match="holds 'model' but no plan.json"):
        discover(SQUARES, tmp_path)
    assert (tmp_path / "model" / "precious").exists()


def test_a_folder_among_the_pictures_is_refused(tmp_path):
    folder = write_pictures(tmp_path / "pictures", 40)
    with pytest.raises(
        ValueError, match="output folder must be outside of the pictures"
    ):
        discover(folder, folder / "found")


def test_other_arrays_do_not_take_the_place_of_kept_ones(tmp_path):
    first = read_source(lamps(), tmp_path)
    second = read_source(255 - lamps().images(np.arange(216)), tmp_path)
    assert first.data != second.data
    again = unbraid.data.open_dataset(first.data)
    assert again.fingerprint() == first.dataset.fingerprint()


def test_weights_of_images_are_refused(tmp_path):
    class Weighted(LabeledImages):
        weights = np.full(216, 1 / 216)

    with pytest.raises(ValueError, match="whose rows have weights"):
        read_source(Weighted(lamps().images(np.arange(216))), tmp_path)


@pytest.mark.usefixtures("without_pages")
def test_pictures_that_changed_since_the_last_call_are_read_anew(tmp_path):
    folder = tmp_path / "pictures"
    write_pictures(folder, 40)
    plan_small(tmp_path / "one", folder, betas=(1,), steps=1, seeds=2)
    discover(folder, tmp_path / "one", executor=InlineExecutor())
    (folder / "00000.png").unlink()
    plan_small(tmp_path / "two", folder, betas=(1,), steps=1, seeds=2)
    discover(folder, tmp_path / "two", executor=InlineExecutor())
    about = json.loads((tmp_path / "two" / "study" / "data.json").read_text())
    expected = read_source(folder, tmp_path).dataset.fingerprint()
    assert list(about["fingerprints"].values()) == [expected]


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize("place", ["head", "body"])
def test_a_damaged_model_is_trained_again(tmp_path, place):
    plan_small(tmp_path, steps=1, seeds=2)
    discover(SQUARES, tmp_path, executor=InlineExecutor())
    runs = sorted((tmp_path / "study" / "runs").iterdir())
    table = (tmp_path / "study" / "table.csv").read_bytes()
    for run in runs[:2]:
        content = (run / "model.safetensors").read_bytes()
        end = b"\0" * 40 + content[-1:]
        spoiled = content[:-41] + end if place == "body" else b"damaged"
        (run / "model.safetensors").write_bytes(spoiled)
    discover(SQUARES, tmp_path, executor=InlineExecutor())
    assert (tmp_path / "study" / "table.csv").read_bytes() == table
    for run in runs:
        unbraid.load(run)


@pytest.mark.usefixtures("without_pages")
def test_a_damaged_trace_leaves_its_siblings_theirs(tmp_path):
    plan_small(tmp_path, lamps(), betas=(0.3,), steps=200)
    source = read_source(lamps(), tmp_path / "data")
    discover(lamps(), tmp_path, executor=InlineExecutor())
    run = sorted((tmp_path / "study" / "runs").iterdir())[0]
    (run / "traces.safetensors").write_bytes(b"damaged")
    rows = np.arange(100)
    study = StudyFolder(tmp_path / "study")
    population = collect_evidence(read_records(study), study, source.dataset, rows)
    (pairs,) = population.evidence.dynamics_pairs.values()
    assert np.isfinite(pairs).sum() == 4
    assert np.isfinite(population.evidence.dynamics()).all()


def test_more_workers_than_runs_do_not_shorten_them(tmp_path, monkeypatch):
    cost = Cost(per_step=1e-3, fixed=1.0, n_bytes=0)
    monkeypatch.setattr(_proposal, "measure_run", lambda spec, device: cost)
    source = read_source(SQUARES, tmp_path)
    plan = propose(source.data, source.dataset, Limits(seconds=30.0, n_workers=500))
    assert len(plan.study.runs()) <= 500
    assert plan.steps * cost.per_step + cost.fixed < 30


def test_vectors_have_no_pictures_and_the_account_says_nothing_of_them(tmp_path):
    model = Discovery(
        tmp_path,
        Ranking((), (), "a", "Because."),
        model=None,
        codes=None,
        latents=(),
        explained=None,
        quality=None,
        summary=tmp_path / "summary.txt",
        report=None,
    )
    assert not any("traversals" in sentence for sentence in _give_advice(model))


@pytest.mark.parametrize("budget", ["0", "0s", "", "-5m", "soon", "10 parsecs", 0, -3])
def test_a_budget_that_is_no_time_is_refused(budget, tmp_path):
    with pytest.raises(ValueError, match="is not a duration"):
        discover(SQUARES, tmp_path, budget=budget)


def test_a_budget_that_is_too_short_says_what_is_needed(tmp_path):
    with pytest.raises(ValueError, match=r"at least \d+ (s|min) .* got 1 s"):
        discover(SQUARES, tmp_path, budget="1s")


def test_more_time_buys_more(tmp_path):
    source = read_source(SQUARES, tmp_path)

    def plan(seconds):
        return propose(
            source.data, source.dataset, Limits(seconds=seconds, n_workers=2)
        )

    short, long = plan(120.0), plan(3_600.0)
    assert long.study.runs()[0].training.n_latents == 10
    total = [p.steps * len(p.study.runs()) for p in (short, long)]
    assert total[1] > 2 * total[0]
    assert len(long.rungs) >= len(short.rungs)
    assert long.rungs[-1].n_seeds >= short.rungs[-1].n_seeds >= 3
    assert short.seconds < 120


def test_a_damaged_plan_is_made_anew(tmp_path):
    plan_small(tmp_path)
    assert read_plan(tmp_path) is not None
    (tmp_path / "plan.json").write_text('{"format": 1, "kind"')
    assert read_plan(tmp_path) is None


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"x": range(30)}, "one column called row or file"),
        ({"row": range(30)}, "at least one factor"),
        ({"row": range(5), "x": range(5)}, "20 to 1,000 labels, got 5"),
        ({"row": range(50, 80), "x": range(30)}, "integers from 0 to 63"),
        ({"row": [0] * 30, "x": range(30)}, "one line of labels, but row 0 has 30"),
        (
            {"row": range(30), "x": [None, *range(29)]},
            "a cell of the table of labels is empty",
        ),
        (
            {"file": [f"{i}.png" for i in range(30)], "x": range(30)},
            "'0.png' has labels",
        ),
        ({"row": range(30), "x": [1] * 30}, "'x' must be finite and must not all be"),
        ({"row": range(30), "x": [np.inf, *range(29)]}, "must be finite"),
        ({"row": range(30), "Unnamed: 0": range(30)}, "a name of its own"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(table, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        discover(SQUARES, tmp_path, labels=pd.DataFrame(table))


def test_a_column_named_twice_is_refused(tmp_path):
    table = pd.DataFrame(np.arange(90).reshape(30, 3), columns=["row", "x", "x"])
    with pytest.raises(ValueError, match="a name of its own, got row, x, x"):
        discover(SQUARES, tmp_path, labels=table)


def test_lines_with_more_fields_than_names_are_refused(tmp_path):
    lines = [f"{row},{row % 3},{row}" for row in range(30)]
    (tmp_path / "labels.csv").write_text("\n".join(["row,x", *lines]))
    with pytest.raises(ValueError, match="cannot be read as CSV"):
        discover(SQUARES, tmp_path / "out", labels=tmp_path / "labels.csv")


def test_a_killed_discovery_goes_on(tmp_path):
    plan_small(tmp_path, betas=(0.5, 1), steps=800, seeds=2)
    command = [sys.executable, "-m", "unbraid", "discover", SQUARES, "-o", tmp_path]
    command += ["--workers", "1"]
    process = subprocess.Popen(command, start_new_session=True)
    runs = tmp_path / "study" / "runs"
    began = time.monotonic()
    while not list(runs.glob("*/scores.json")) and time.monotonic() - began < 120:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = {path: path.stat().st_mtime_ns for path in runs.glob("*/scores.json")}
    assert 1 <= len(done) < 4
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode in (0, 3), again.stderr
    assert again.stdout.startswith((tmp_path / "summary.txt").read_text())
    assert len(list(runs.glob("*/scores.json"))) == 4
    assert all(path.stat().st_mtime_ns == when for path, when in done.items())


def test_times_are_read_as_people_write_them():
    assert parse_duration("1h 30m") == 5_400
    assert parse_duration("2.5m") == 150


def test_the_explained_share_is_one_for_a_perfect_and_zero_for_a_constant_model():
    dataset = lamps()
    pixels = float_images(dataset, np.arange(len(dataset)))
    mean = pixels.mean(dim=0)
    assert measure_explained(lambda images: images, dataset) == 1.0
    constant = measure_explained(lambda images: mean.expand_as(images), dataset)
    assert constant == pytest.approx(0.0, abs=1e-6)
    # Half of every deviation is missing, which is a quarter of the variance.
    halved = measure_explained(lambda images: (images + mean) / 2, dataset)
    assert halved == pytest.approx(0.75, abs=1e-6)


def test_a_plan_is_made_without_training_and_is_then_followed(tmp_path):
    options = {"budget": 60, "n_latents": 4, "executor": InlineExecutor()}
    plan = plan_discovery(SQUARES, tmp_path, **options)
    assert {spec.training.n_latents for spec in plan.study.runs()} == {4}
    assert not (tmp_path / "study").exists()
    assert plan_discovery(SQUARES, tmp_path, **options).to_plain() == plan.to_plain()
    assert read_plan(tmp_path).to_plain() == plan.to_plain()


def test_smaller_pictures_are_read_from_the_folder_again(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    generator = np.random.default_rng(0)
    for number in range(40):
        pixels = generator.integers(0, 256, (64, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(pictures / f"{number:02}.png")
    source = read_source(str(pictures), tmp_path / "data")
    small = downscale(source, 4, tmp_path / "data")
    direct = ImageFolder(pictures, image_size=16)
    assert np.array_equal(small.dataset.images([0, 7]), direct.images([0, 7]))
    assert small.names == source.names
    assert not (tmp_path / "data").exists()
    again = reopen_source(source, small.data, 4, tmp_path / "data")
    assert again.dataset.fingerprint() == small.dataset.fingerprint()


def test_the_seed_and_the_device_of_a_plan_are_those_of_its_runs(tmp_path):
    options = {"budget": 60, "executor": InlineExecutor(), "device": "cpu"}
    plan = plan_discovery(SQUARES, tmp_path, seed=5, **options)
    assert min(spec.seed for spec in plan.study.runs()) == 5
    with pytest.raises((RuntimeError, ValueError), match="nowhere"):
        plan_discovery(SQUARES, tmp_path / "b", **options | {"device": "nowhere"})
