"""The Ray executor in a program that has a Ray already, which is started once."""

import shutil

import pytest
import ray
from miniature_population import population

from unbraid.evolution import evolve
from unbraid.execution import InlineExecutor, RayExecutor
from unbraid.studies import RunSpec


@pytest.fixture(scope="module", autouse=True)
def own_ray():
    ray.init(num_cpus=3, include_dashboard=False, object_store_memory=100 * 2**20)
    yield
    ray.shutdown()


def ends(executor, jobs):
    stream = executor.run(jobs)
    return [news.outcome for news in stream if news.kind == "ended"]


def test_a_ray_that_is_there_is_used_and_left(make_job, job_list, tmp_path):
    assert RayExecutor().n_workers == 3
    executor = RayExecutor(cpus=2)
    assert executor.n_workers == 1
    outcomes = ends(executor, job_list([make_job(0), make_job(1)]))
    assert [outcome.end for outcome in outcomes] == ["done", "done"]
    assert ray.is_initialized()

    unseen = make_job(2, folder=tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "elsewhere")
    (outcome,) = ends(executor, job_list([unseen]))
    assert outcome.end == "blocked"
    assert "cannot see" in outcome.message
    assert not (tmp_path / "elsewhere").exists()


def test_ray_does_not_change_the_lineage_of_a_population(tmp_path):
    spec = RunSpec.read(population(generations=2), "test")
    here, there = (
        evolve(spec, tmp_path / type(executor).__name__, executor=executor)
        for executor in (InlineExecutor(), RayExecutor(2))
    )
    assert there.population.lineage == here.population.lineage
