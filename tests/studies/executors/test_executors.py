import dataclasses
import sys
import time

import pytest

from unbraid.studies.executors import (
    AbstractExecutor,
    LocalExecutor,
    News,
    RayExecutor,
)
from unbraid.studies._work import Job, Outcome, work
from unbraid.testing import check_executor

EXECUTORS = {"local": lambda: LocalExecutor(2), "ray": lambda: RayExecutor(2)}

# One Ray at a time is enough for two cores.
pytestmark = pytest.mark.xdist_group("ray")


@pytest.mark.parametrize("name", EXECUTORS)
def test_every_executor_conforms(name, tmp_path, capfd):
    check_executor(EXECUTORS[name], tmp_path)
    assert capfd.readouterr() == ("", "")  # not even of the worker that was killed
