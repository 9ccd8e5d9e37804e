"""A population that is killed again and again ends as one that is not."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from miniature_population import population

PROGRAM = """
import json, sys
from unbraid.evolution import evolve
from unbraid.studies import RunSpec
from unbraid.execution import LocalExecutor

if __name__ == "__main__":
    spec = RunSpec.read(json.loads(sys.argv[1]), "killed")
    evolve(spec, sys.argv[2], executor=LocalExecutor(2))
"""


def start(plain, out):
    command = [sys.executable, "-c", PROGRAM, json.dumps(plain), str(out)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def workers_of(process):
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with contextlib.suppress(OSError):
        return [int(number) for number in path.read_text().split()]
    return []


def n_trained(out):
    """Models of the generation in progress that are done, and generations that are."""
    done = len(list(out.rglob("codes.npz")))
    lineages = list(out.rglob("lineage.json"))
    complete = [json.loads(path.read_text())["generations"] for path in lineages]
    return done + 1_000 * sum(map(len, complete))


def wait_for_progress(process, out, patience=120):
    """Until something more is done; whether the process still runs."""
    before, end = n_trained(out), time.monotonic() + patience
    while n_trained(out) == before:
        if process.poll() is not None:
            return False
        assert time.monotonic() < end
        time.sleep(0.01)
    return True


def kill_something(process, dice):
    """The parent or one of its workers; whether it was the parent."""
    workers = workers_of(process)
    if workers and dice.random() < 0.5:
        with contextlib.suppress(ProcessLookupError):
            os.kill(dice.choice(workers), signal.SIGKILL)
        return False
    process.kill()
    process.communicate()
    return True


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="children are read from /proc")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_kills", "generations"),
    [(2, 4), (10, 8)],
)
def test_lineage_is_that_of_an_undisturbed_population(tmp_path, n_kills, generations):
    plain = population("unsupervised", generations=generations, images=400)
    quiet = tmp_path / "quiet"
    calm = start(plain, quiet)
    assert calm.wait(300) == 0, calm.communicate()[0]
    calm.stdout.close()
    expected = next(quiet.rglob("lineage.json")).read_bytes()
    dice, out = random.Random(n_kills), tmp_path / "disturbed"
    process, n_done = start(plain, out), 0
    while n_done < n_kills and wait_for_progress(process, out):
        time.sleep(dice.uniform(0, 0.3))
        if process.poll() is not None:
            break
        n_done += 1
        if kill_something(process, dice):
            process = start(plain, out)
    words, _ = process.communicate(timeout=300)
    assert process.returncode == 0, words
    assert n_done == n_kills
    assert next(out.rglob("lineage.json")).read_bytes() == expected
    for name in ("model.safetensors", "winner.json"):
        one, other = (next(f.rglob(f"winner/{name}")) for f in (quiet, out))
        assert one.read_bytes() == other.read_bytes()
