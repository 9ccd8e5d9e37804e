"""What only the Ray executor promises: requests and clusters."""

import sys

import numpy as np
import pytest
import ray
from ray.cluster_utils import Cluster
from small_discovery import lamps, plan_race

from unbraid.discovery import discover
from unbraid.execution import InlineExecutor, RayExecutor


def test_without_ray_the_error_has_the_line_that_helps(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        ImportError, match=r"RayExecutor: .* pip install 'unbraid\[ray\]'"
    ):
        RayExecutor()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"n_workers": 0}, "n_workers must be at least 1, got 0"),
        ({"cpus": 0}, "cpus must be positive, got 0"),
        ({"gpus": -1}, "gpus must be at least 0, got -1"),
    ],
)
def test_wrong_requests_are_refused(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        RayExecutor(**options)


def test_more_than_this_machine_has_is_refused_before_ray_is_started():
    with pytest.raises(ValueError, match="No node has the 1000 cores"):
        _ = RayExecutor(cpus=1000).n_workers
    executor = RayExecutor(1, gpus=1000)
    with pytest.raises(ValueError, match="and 1000 GPUs"):
        next(executor.run(None))
    assert not ray.is_initialized()


def test_no_cluster_at_an_address_is_an_error_that_says_so(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(ConnectionError, match="a Ray cluster at '127.0.0.1:1'"):
        _ = RayExecutor().n_workers


@pytest.mark.slow
def test_a_run_whose_node_is_lost_is_done_on_another(make_job, job_list):
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "object_store_memory": 100 * 2**20},
    )
    try:
        node = cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
        executor = RayExecutor(address=cluster.address)
        assert executor.n_workers == 1
        job = make_job(0, steps=3_000)
        told = []
        for news in executor.run(job_list([job, job])):
            told.append(news.outcome.end if news.kind == "ended" else news.kind)
            if news.kind == "progress" and node is not None:
                cluster.remove_node(node, allow_graceful=False)
                cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
                node = None
        assert [each for each in told if each in ("begun", "died", "done")] == [
            "begun",
            "died",
            "begun",
            "done",
        ]
        assert not ray.is_initialized()
    finally:
        cluster.shutdown()


@pytest.mark.slow
def test_a_race_on_ray_chooses_the_same_model_as_in_one_process(tmp_path):
    data = f"{tmp_path / 'lamps.npy'}:channels_first=true"
    np.save(tmp_path / "lamps.npy", lamps().images(np.arange(216)))
    found = {}
    for name, executor in (("here", InlineExecutor()), ("ray", RayExecutor(2))):
        plan_race(tmp_path / name, data)
        found[name] = discover(data, tmp_path / name, executor=executor)
    assert found["ray"].ranking == found["here"].ranking
    models = [tmp_path / name / "model" / "model.safetensors" for name in found]
    assert models[0].read_bytes() == models[1].read_bytes()
