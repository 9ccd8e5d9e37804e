"""The shipped suite, on every executor, and on some that break a promise each."""

import dataclasses
import json
import os
import signal
import time
from pathlib import Path

import pytest

from unbraid.execution import (
    AbstractExecutor,
    Event,
    InlineExecutor,
    LocalExecutor,
    RayExecutor,
)
from unbraid.testing import check_executor

EXECUTORS = {"local": lambda: LocalExecutor(2), "ray": lambda: RayExecutor(2)}

# One Ray at a time is enough for two cores.


@pytest.mark.parametrize("name", ["local", pytest.param("ray", marks=pytest.mark.slow)])
def test_every_executor_conforms(name, tmp_path, capfd):
    check_executor(EXECUTORS[name], tmp_path)
    # Not even of the worker that was killed.
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", EXECUTORS)
def test_a_job_is_interrupted_before_it_has_done_anything(name, make_job, job_list):
    executor = EXECUTORS[name]()
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    ends = []
    for news in executor.run(job_list([make_job(0, steps=1_000_000)])):
        if news.kind == "begun":
            executor.stop()
            # Whoever calls decides what these do.
            now = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
            assert now == handlers
        if news.kind == "ended":
            ends.append(news.outcome.end)
    assert ends == ["interrupted"]


def test_workers_are_kept_within_a_with_statement(make_job, job_list):
    def run(executor, number):
        job = make_job(number, steps=1)
        ends = [
            news.outcome.end for news in executor.run(job_list([job])) if news.outcome
        ]
        assert ends == ["done"]
        return json.loads((Path(job.folder) / "worker.json").read_text())["pid"]

    executor = LocalExecutor(1)
    with executor:
        with executor:
            first = run(executor, 0)
        assert run(executor, 1) == first
        os.kill(first, signal.SIGKILL)
        time.sleep(0.2)  # until it is gone
        again = run(executor, 2)
        assert again != first
    with pytest.raises(ProcessLookupError):
        os.kill(again, 0)
    assert run(executor, 3) not in (first, again)


class Altered(AbstractExecutor):
    """Does as it should, in this process, but for what is made of its jobs and news."""

    n_workers = 1

    def __init__(self, change_job=None, change_news=None):
        self._inner = InlineExecutor()
        self._change_job = change_job or (lambda job: job)
        self._change_news = change_news or (lambda news: [news])

    def run(self, jobs):
        given = {}
        change = self._change_job

        class Changed:
            is_over = property(lambda self: jobs.is_over)

            def take(self):
                job = jobs.take()
                given[job.id] = job
                return change(job)

        for news in self._inner.run(Changed()):
            yield from self._change_news(
                dataclasses.replace(news, job=given[news.job.id])
            )

    def stop(self):
        self._inner.stop()


def with_another_seed(job):
    return dataclasses.replace(
        job,
        spec={
            **job.spec,
            "run": {**job.spec["run"], "seed": 100 + job.spec["run"]["seed"]},
        },
    )


def twice(news):
    return [news, news] if news.kind == "ended" else [news]


def without_beginning(news):
    return [] if news.kind == "begun" else [news]


def without_failures(news):
    is_failure = news.outcome is not None and news.outcome.end == "failed"
    return [] if is_failure else [news]


def without_reasons(news):
    if news.outcome is None:
        return [news]
    outcome = dataclasses.replace(news.outcome, message="")
    return [Event(news.kind, news.job, outcome)]


def after_a_while(news):
    time.sleep(0.2)
    return [news]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "promise"),
    [
        ({"change_job": with_another_seed}, "same bytes as in this process"),
        ({"change_news": twice}, "every job ends once"),
        ({"change_news": without_beginning}, "every job begins once"),
        ({"change_news": without_failures}, "every job ends"),
        ({"change_news": without_reasons}, "a failure has a reason"),
        ({"change_news": after_a_while}, "there is news every second"),
        ({}, "a stopped job ends as 'interrupted', not 'done'"),
    ],
)
def test_the_suite_names_the_broken_promise(changes, promise, tmp_path, monkeypatch):
    # This process has no news of a run before its end, which is not what is meant.
    gap = 0.1 if "news" in promise else 600
    monkeypatch.setattr("unbraid.testing._executors._GAP_SECONDS", gap)
    with pytest.raises(AssertionError, match=promise):
        check_executor(lambda: Altered(**changes), tmp_path)
