import os
from collections import deque

import pytest

from unbraid import studies
from unbraid.data import open_cached
from unbraid.execution._ray import LOSSES
from unbraid.studies import Cell, RunFiles, RunSpec

# Ray looks at this when it is imported, which a file of tests may do before the
# executor does.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", LOSSES)

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"


@pytest.fixture
def make_job(tmp_path):
    """A job that differs by its seed."""

    def make(seed, *, steps=100, folder=tmp_path / "runs"):
        folder.mkdir(exist_ok=True)
        plain = {
            "data": DATA,
            "network": {"name": "dense", "widths": [16]},
            "training": {"steps": steps, "n_latents": 3, "log_every": 20},
            "evaluation": {"metrics": ["mig"], "rows": 200},
            "seed": seed,
        }
        files = RunFiles(folder / f"run{seed}")
        cell = Cell(f"run{seed}", RunSpec.read(plain, "test"), files)
        return studies.make_job(cell, open_cached(DATA).fingerprint)

    return make


class JobList:
    """Jobs in a row."""

    def __init__(self, jobs):
        self._jobs = deque(jobs)

    @property
    def is_over(self):
        return not self._jobs

    def take(self):
        return self._jobs.popleft() if self._jobs else None


@pytest.fixture
def job_list():
    """What an executor takes jobs from."""
    return JobList
