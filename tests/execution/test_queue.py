import os

import pytest

from unbraid.execution import Job, JobQueue, Outcome


@pytest.fixture
def job(tmp_path):
    return Job(id="run", kind="module:function", folder=str(tmp_path / "run"))


def lose(queue, job):
    assert queue.take() == job
    return queue.record_outcome(job, Outcome(job.id, "died", "the worker is gone")).end


def test_a_run_that_gets_nowhere_is_given_up_with_its_third_worker(job, tmp_path):
    queue = JobQueue([job])
    assert [lose(queue, job) for _ in range(3)] == ["died", "died", "failed"]
    assert queue.is_over
    assert (tmp_path / "run" / "failure.json").is_file()


def test_a_run_that_gets_on_may_lose_any_number_of_workers(job, tmp_path):
    queue = JobQueue([job])
    state = tmp_path / "run" / "state.safetensors"
    state.parent.mkdir()
    state.touch()
    for life in range(10):
        os.utime(state, ns=(life, life))
        assert lose(queue, job) == "died"
    assert [lose(queue, job) for _ in range(2)] == ["died", "failed"]
