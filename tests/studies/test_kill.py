"""A study that is killed again and again ends with the table of one that is not."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from unbraid.execution import InlineExecutor
from unbraid.studies import read_study, run_study

PROGRAM = """
import sys
from unbraid.studies import read_study, run_study
from unbraid.execution import LocalExecutor, RayExecutor

if __name__ == "__main__":
    executor = {"local": LocalExecutor, "ray": RayExecutor}[sys.argv[1]](2)
    end = run_study(read_study(sys.argv[2]), sys.argv[3], executor=executor)
    print(end.done, end.failed, end.left)
"""

# Three models for each seed.
STUDY = """
data: "xy_squares:image_size=8,square_size=1,n_squares=1,rgb=false"
network: {name: dense, widths: [16]}
training: {steps: 300, n_latents: 3, batch_size: 16, log_every: 20}
evaluation: {metrics: [mig, sap], rows: 64}
methods:
  vae:
  beta_vae: {beta: [2, 4]}
"""

# Runs that are done between the last kill and the end: it must not come too late.
REST = 5


class Conductor:
    """A process that runs a study, until somebody kills it."""

    def __init__(self, executor, study, out):
        self._command = [sys.executable, "-c", PROGRAM, executor, str(study), str(out)]
        self._runs = out / "runs"
        self._n_lost = Counter()
        self.start()

    def start(self):
        self._began = time.time()
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def end(self):
        words = self._process.communicate()[0]
        return words, self._process.returncode

    def working(self):
        """Processes that train at this moment, by the run that they train."""
        found = {}
        for path in sorted(self._runs.glob("*/worker.json")):
            is_ours = path.stat().st_mtime > self._began
            if is_ours and not (path.parent / "scores.json").exists():
                found[path.parent.name] = json.loads(path.read_text())["pid"]
        return {run: pid for run, pid in found.items() if is_alive(pid)}

    def wait(self, n_done):
        """Until so many runs are done, and others are being done."""
        while True:
            assert self._process.poll() is None, self.end()
            is_due = len(list(self._runs.glob("*/scores.json"))) >= n_done
            if is_due and (found := self.working()):
                return found
            time.sleep(0.01)

    def kill_worker(self, n_done, choice):
        while True:
            # The third worker in a row that a run takes with it is its last.
            found = [
                each for each in self.wait(n_done).items() if self._n_lost[each[0]] < 2
            ]
            if found:
                run, pid = choice(found)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self._n_lost[run] += 1
                    return


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory):
    """The file of a study by its number of seeds, and its table, undisturbed."""
    known = {}

    def make(n_seeds):
        if n_seeds not in known:
            folder = tmp_path_factory.mktemp("alone")
            study = folder / "study.yaml"
            study.write_text(f"{STUDY}seeds: {n_seeds}\n")
            end = run_study(
                read_study(study), folder / "out", executor=InlineExecutor()
            )
            assert (end.done, end.failed, end.left) == (3 * n_seeds, 0, 0)
            known[n_seeds] = study, (folder / "out" / "table.csv").read_bytes()
        return known[n_seeds]

    return make


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes")
@pytest.mark.parametrize(
    "executor", ["local", pytest.param("ray", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    ("n_seeds", "n_kills"), [(4, 3), pytest.param(20, 10, marks=pytest.mark.slow)]
)
def test_a_killed_study_ends_with_the_same_table(
    executor, n_seeds, n_kills, left_alone, tmp_path
):
    study, wanted = left_alone(n_seeds)
    chance = random.Random(n_kills)
    moments = sorted(chance.sample(range(3 * n_seeds - REST), n_kills))
    victims = ["parent" if kill % 2 else "worker" for kill in range(n_kills)]
    chance.shuffle(victims)
    conductor = Conductor(executor, study, tmp_path / "out")
    try:
        for victim, moment in zip(victims, moments, strict=True):
            conductor.wait(moment)
            time.sleep(chance.random() * 0.2)
            if victim == "parent":
                conductor.kill()
                conductor.start()
            else:
                conductor.kill_worker(moment, chance.choice)
        # Nothing else is said, not by Ray either.
        assert conductor.end() == (f"{3 * n_seeds} 0 0\n", 0)
    finally:
        conductor.kill()
    assert (tmp_path / "out" / "table.csv").read_bytes() == wanted
