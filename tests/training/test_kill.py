"""A run that is killed again and again ends with the same bytes as one that is not."""

import subprocess
import sys

import pytest

from unbraid.training import Run, Trace

# Modules are imported once (those of optimizers when one is made); every life of the
# run is a fork of this process, so that twenty of them take seconds.
PROGRAM = """
import os, random, signal, sys, time
from pathlib import Path
import torch
torch.set_num_threads(1)
import unbraid
from unbraid.data import XYSquares
from unbraid.models.networks import Dense
from unbraid.training import TraceSettings

STEPS, KILLS = 400, 20
torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], fused=True)
objective, folder = sys.argv[1], Path(sys.argv[2])

def run(out):
    unbraid.fit(
        objective, XYSquares(image_size=8, square_size=1), steps=STEPS, n_latents=4,
        network=Dense(widths=(16,)), batch_size=16, log_every=5, save_every=10, out=out,
        traces=TraceSettings(n_observations=4, n_snapshots=8), progress=False,
        score_every=35, score_metrics="mig,sap", score_rows=100,
    )

def fork(out):
    child = os.fork()
    if child == 0:
        try:
            run(out)
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    return child

def lines(path):
    return path.read_bytes().count(b"\\n") if path.exists() else 0

random.seed(0)
os.waitpid(fork(folder / "whole"), 0)
n_killed = 0
for moment in sorted(random.sample(range(1, STEPS // 5 - 8), KILLS)):
    child = fork(folder / "killed")
    while lines(folder / "killed" / "history.jsonl") < moment:
        if os.waitpid(child, os.WNOHANG)[0]:
            sys.exit("the run ended before it was killed")
        time.sleep(0.002)
    time.sleep(random.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    n_killed += os.WIFSIGNALED(status)
_, status = os.waitpid(fork(folder / "killed"), 0)
print(n_killed, status)
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "objective", ["beta_vae", pytest.param("factor_vae", marks=pytest.mark.slow)]
)
def test_killed_twenty_times_it_ends_with_the_same_bytes(objective, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, objective, str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["20", "0"], done.stderr
    tensors = ("model.safetensors", "state.safetensors", "traces.safetensors")
    for name in (*tensors, "scores.jsonl"):
        whole, killed = (tmp_path / run / name for run in ("whole", "killed"))
        assert whole.read_bytes() == killed.read_bytes(), name
    steps = Trace.load(tmp_path / "killed").steps.tolist()
    assert steps == [0, 57, 114, 171, 229, 286, 343, 400]  # between the records
    steps = [record["step"] for record in Run.load(tmp_path / "killed").scores]
    assert steps == [*range(35, 400, 35), 400]
