import pytest
from miniature_study import MINIATURE

from unbraid.execution import InlineExecutor
from unbraid.studies import run_study, study_from_plain


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
