"""Write the golden samples: small results of unbraid, which later versions must read.

Run this when a file format changes, to add a sample of the new format in a new folder::

    PYTHONPATH=tests/support python tests/golden/make.py tests/golden/format_2

Samples of older formats stay as they are; ``tests/test_golden.py`` reads all of them.
The samples are a finished run, the same run paused, a finished study and a finished
discovery. Locks, names of machines, pages, pictures and states of finished runs are
left out. All paths in the samples are relative.

With ``--preset-run-ids``, write the hashes of the run ids of all presets instead. Do
this only when run ids change on purpose: finished runs of users are not found again.
"""

import argparse
import contextlib
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import torch
from golden_samples import (
    GOLDEN,
    LAMPS,
    LAMPS_DATA,
    SCALES,
    STUDY,
    encode_ramp,
    fit_squares,
    hash_run_ids,
    pause_squares,
)
from small_discovery import lamps, plan_race

from unbraid.discovery import discover
from unbraid.execution import InlineExecutor
from unbraid.studies import PRESETS, run_study, study_from_plain, study_table

# Files that say where and when a sample was made, or that are large and made again.
_LEFT_OUT = ("*lock", "worker.json", "*.html", "traversals.png")


def make_runs(folder):
    """Make a finished run, and the same run paused."""
    run = fit_squares(folder / "finished_run")
    pause_squares(folder / "paused_run")
    (folder / "finished_run" / "state.safetensors").unlink()
    return {"codes": encode_ramp(run.model)}


def make_study(folder):
    """Make a finished study of two runs."""
    run_study(study_from_plain(STUDY), folder / "study", executor=InlineExecutor())
    for state in folder.glob("study/runs/*/state.safetensors"):
        state.unlink()
    return {"mig": study_table(folder / "study")["score.mig"].tolist()}


def make_discovery(folder):
    """Make a finished discovery whose data lie beside it."""
    place = folder / "discovery"
    place.mkdir()
    dataset = lamps()
    np.save(place / LAMPS, dataset.images(np.arange(len(dataset))))
    with contextlib.chdir(place):
        found = Path("found")
        plan_race(found, LAMPS_DATA, widths=(32,))
        # Runs open their data by the path in the plan: a relative one works anywhere.
        plan = found / "plan.json"
        plan.write_text(plan.read_text().replace(str(Path(LAMPS).resolve()), LAMPS))
        result = discover(LAMPS_DATA, found, executor=InlineExecutor())
        for run in (found / "study" / "runs").iterdir():
            if not (run / "scores.json").is_file():
                shutil.rmtree(run)  # dropped by the race
            else:
                (run / "state.safetensors").unlink()
    return {
        "chosen": result.ranking.chosen,
        "models": [model.name for model in result.ranking.models],
        "codes": encode_ramp(result.model),
    }


def make_samples(target):
    """Write all samples into a new folder."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "samples"
        folder.mkdir()
        expected = {
            "run": make_runs(folder),
            "study": make_study(folder),
            "discovery": make_discovery(folder),
        }
        (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")
        ignore = shutil.ignore_patterns(*_LEFT_OUT)
        shutil.copytree(folder, target, ignore=ignore)


def main():
    """Read the command line and write what it asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("folder", nargs="?", type=Path, help="new folder of the samples")
    what.add_argument("--preset-run-ids", action="store_true")
    options = parser.parse_args()
    if options.preset_run_ids:
        ids = {
            name: {scale: hash_run_ids(name, scale) for scale in SCALES}
            for name in PRESETS
        }
        (GOLDEN / "preset_run_ids.json").write_text(json.dumps(ids, indent=2) + "\n")
    else:
        make_samples(options.folder)


if __name__ == "__main__":
    main()
