"""Runs that pause on the way: their previews, and how they continue."""

import json

import numpy as np
import pytest
from miniature_population import population
from miniature_study import MINIATURE

from unbraid.execution import InlineExecutor, LocalExecutor
from unbraid.foundation import NewerFormatError
from unbraid.representation import Representation
from unbraid.studies import (
    StudyFolder,
    prune,
    read_preview,
    run_study,
    study_from_plain,
)

_FINAL = ("model.safetensors", "history.jsonl", "scores.json", "traces.safetensors")


def run(out, *, until=None, executor=None, **changes):
    plain = MINIATURE | {"traces": {"n_observations": 4, "n_snapshots": 6}} | changes
    study = study_from_plain(plain)
    return run_study(study, out, until=until, executor=executor or InlineExecutor())


def place(out):
    (cell,) = StudyFolder(out).cells
    return cell.files


def contents(out):
    path = place(out).path
    found = {name: (path / name).read_bytes() for name in _FINAL}
    records = [json.loads(line) for line in found["history.jsonl"].splitlines()]
    for record in records:
        del record["images_per_second"]
    return found | {"history.jsonl": records}


@pytest.mark.parametrize("executor", [InlineExecutor, lambda: LocalExecutor(1)])
def test_a_paused_run_ends_with_the_same_bytes_as_one_that_never_paused(
    tmp_path, executor
):
    run(tmp_path / "whole")
    for step in (5, 10):
        end = run(tmp_path / "paused", until=step, executor=executor())
        assert (end.done, end.failed, end.left) == (1, 0, 0)
        assert place(tmp_path / "paused").state == "begun"
        assert not (tmp_path / "paused" / "table.csv").exists()
    run(tmp_path / "paused", executor=executor())
    assert contents(tmp_path / "paused") == contents(tmp_path / "whole")


def test_a_preview_has_codes_of_the_same_rows_and_the_fit(tmp_path):
    run(tmp_path, until=10, seeds=2)
    previews = [
        read_preview(cell.files, step=10) for cell in StudyFolder(tmp_path).cells
    ]
    assert np.array_equal(previews[0].codes.rows, previews[1].codes.rows)
    assert not np.array_equal(previews[0].codes.codes, previews[1].codes.codes)
    for preview in previews:
        assert preview.codes.codes.shape == (64, 3)
        assert preview.fit["elbo"] == pytest.approx(
            -preview.fit["reconstruction"] - preview.fit["kl"]
        )
        assert preview.fit["active_latents"] in range(4)


def test_a_preview_of_another_step_does_not_count(tmp_path):
    run(tmp_path, until=5)
    assert read_preview(place(tmp_path), step=10) is None
    run(tmp_path, until=10)
    assert read_preview(place(tmp_path), step=10).step == 10


def test_a_run_that_is_already_paused_there_is_not_trained_again(tmp_path):
    run(tmp_path, until=10)
    before = place(tmp_path).training_state.stat().st_mtime_ns
    run(tmp_path, until=10)
    assert place(tmp_path).training_state.stat().st_mtime_ns == before


def test_codes_that_are_not_finite_are_computed_again(tmp_path):
    run(tmp_path, until=10)
    path = place(tmp_path).preview_codes(10)
    codes = Representation.load(path)
    Representation(codes.codes * np.nan, rows=codes.rows).save(path)
    assert read_preview(place(tmp_path), step=10) is None
    run(tmp_path, until=10)
    assert np.isfinite(read_preview(place(tmp_path), step=10).codes.codes).all()


def test_a_step_at_or_after_the_end_trains_the_whole_run(tmp_path):
    for step in (20, 100):
        end = run(tmp_path, until=step)
        assert (end.done, end.left) == (1, 0)
        assert read_preview(place(tmp_path), step=step) is not None
    run(tmp_path)
    assert place(tmp_path).state == "done"


def test_previews_of_earlier_steps_stay(tmp_path):
    for step in (5, 10):
        run(tmp_path, until=step)
    run(tmp_path)
    for step in (5, 10):
        assert read_preview(place(tmp_path), step=step).step == step


def test_a_finished_run_gets_the_preview_that_it_lacks(tmp_path):
    run(tmp_path)
    before = place(tmp_path).scores.read_bytes()
    end = run(tmp_path, until=10)
    assert (end.done, end.left) == (1, 0)
    assert read_preview(place(tmp_path), step=10) is not None
    assert place(tmp_path).scores.read_bytes() == before


def test_populations_cannot_pause(tmp_path):
    plain = {key: value for key, value in population().items() if key != "seed"}
    study = study_from_plain(plain)
    with pytest.raises(ValueError, match="populations cannot pause"):
        run_study(study, tmp_path, until=10)


def test_previews_go_with_a_run_that_is_pruned(tmp_path):
    run(tmp_path, until=10)
    run(tmp_path, seeds=[1])
    prune(tmp_path, strangers=True)
    assert len(list((tmp_path / "runs").iterdir())) == 1


HEAD = b'{"format": 1, "kind": "preview of a run", "step": 10, "fit": '


@pytest.mark.parametrize("name", ["preview-10.json", "preview-10.npz"])
@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"damaged", b"{}", HEAD + b"{}}", HEAD + b'{"elbo": -1.0}}'),
        HEAD + b'{"elbo": NaN, "active_latents": 2}}',
    ],
)
def test_a_damaged_preview_is_computed_again(tmp_path, name, content):
    run(tmp_path, until=10)
    known = read_preview(place(tmp_path), step=10)
    (place(tmp_path).path / name).write_bytes(content)
    assert read_preview(place(tmp_path), step=10) is None
    run(tmp_path, until=10)
    again = read_preview(place(tmp_path), step=10)
    assert again.fit == known.fit
    assert np.array_equal(again.codes.codes, known.codes.codes)


def test_a_preview_of_a_newer_version_is_left_alone(tmp_path):
    run(tmp_path, until=10)
    path = place(tmp_path).preview(10)
    path.write_text(path.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(NewerFormatError):
        read_preview(place(tmp_path), step=10)


def test_a_failed_run_has_no_preview_and_counts_as_failed(tmp_path):
    end = run(tmp_path, until=10, training={"steps": 20, "learning_rate": 1e38})
    assert (end.done, end.failed, end.left) == (0, 1, 0)


def test_a_pause_inside_a_record_of_the_history_is_refused(tmp_path):
    end = run(tmp_path, until=7)
    assert end.failed == 1
    message = place(tmp_path).read_failure()["error"]
    assert message == "until must be a multiple of log_every=5, got 7."
