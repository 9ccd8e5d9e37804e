import pytest

from unbraid.studies import run_study, study_from_plain
from unbraid.studies.executors import InlineExecutor

MINIATURE = {
    "name": "miniature",
    "data": "xy_squares:image_size=8,square_size=1,n_squares=1,rgb=false",
    "network": {"name": "dense", "widths": [8]},
    "training": {"steps": 20, "n_latents": 3, "batch_size": 8, "log_every": 5},
    "evaluation": {"metrics": ["mig"], "rows": 64},
}


@pytest.fixture
def plain():
    """A study of one run that takes a tenth of a second, as plain data."""
    return dict(MINIATURE)


@pytest.fixture
def run_here(tmp_path, plain):
    """Run a study in this process, with any of its keys changed."""

    def run(out=tmp_path / "study", **changes):
        study = study_from_plain(plain | changes)
        return run_study(study, out, executor=InlineExecutor())

    return run
