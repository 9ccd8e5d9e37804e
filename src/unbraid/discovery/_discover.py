"""discover: images in, a chosen model out, no labels needed."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.data import DataSpec
from unbraid.execution import (
    AbstractExecutor,
    LocalExecutor,
    RayExecutor,
    count_workers,
)
from unbraid.foundation import (
    CheckpointFormatError,
    FolderInUseError,
    NewerFormatError,
    check_option,
    expand_user,
    locked,
    parse_duration,
)
from unbraid.selection import rank_models
from unbraid.studies import StudyFolder, StudyResult
from unbraid.training import choose_device

from ._budget import N_LATENTS, OBJECTIVES, Limits
from ._data import (
    Source,
    read_source,
    reopen_source,
    require_writable,
    sample_rows,
)
from ._discovery import Discovery
from ._disk_space import delete_spare_states
from ._evidence import Population, collect_evidence
from ._labels import FewLabels, read_labels
from ._make_plan import Method, make_plan
from ._objectives import read_objectives
from ._plan import Plan, read_plan
from ._race import NullRaceObserver, Race, RaceObserver
from ._result_folder import require_own
from ._write_discovery import write_discovery

_ROWS_COMPARED = 1_000


def discover(
    data: Any,
    out: str | os.PathLike[str],
    *,
    method: Method = "sweep",
    budget: str | float | None = None,
    labels: Any = None,
    executor: AbstractExecutor | None = None,
    device: str = "auto",
    seed: int = 0,
    n_latents: int = N_LATENTS,
    objectives: Sequence[str] = OBJECTIVES,
    observer: RaceObserver | None = None,
) -> Discovery:
    """Train several models several times, and choose the best without labels.

    Several configurations start a race, each with several seeds. After every round,
    the configurations continue whose seeds find the same latents again. Most of the
    time is spent on long runs of the last ones. These are ranked by how many latents
    other seeds find again, how similar their training was, and how well they explain
    the data. The runs are a study in ``out/study``. The result is written to ``out``:
    the model, the codes of all images, figures of what each latent does, and a text
    that says how sure the choice is.

    The same call resumes after any interruption. A result that is replaced by another
    one is kept in ``out/history``; if nothing is chosen, an earlier model stays, and
    the refusal goes into ``out/history``.

    Args:
        data: A folder of pictures, a file of arrays, a name with options, a dataset, or
            an array of images.
        out: Folder to write to.
        method: ``"sweep"``: a race between configurations from a list.
            ``"pbt"``: populations whose settings change while they train, scored by
            how well their models agree (PBT-U-VAE). ``"recursive"``: such populations
            on ever more uniform images, and one more that learns all that they found
            (rPU-VAE).
        budget: Time until the end, such as ``"10m"``, or in seconds; when not given,
            estimated from a short timing with these data.
        labels: Labels of 20 to 1,000 images, if there are any: a data frame, mapping or
            CSV file with a column ``row`` or ``file``, and one per factor. They help to
            choose, and the ranking says how much they changed.
        executor: Executor that runs the jobs; one process per core of this machine
            when not given.
        device: Device of each run; ``"auto"`` takes the first of cuda, mps and cpu that
            is available.
        seed: Seed of the first run of each configuration.
        n_latents: Number of latents of each model, more than the data have factors.
        objectives: Names of the objectives that take part in the race, each with
            several strengths: those with a weight ``beta``, also in a file of your own
            (``"mine.py:LogVAE"``), and ``"factor_vae"``. Only for the method
            ``"sweep"``.
        observer: Notified of what happens, for a progress display.

    Returns:
        The result. Its ``model`` is ``None`` if no model is better than chance.

    Raises:
        ValueError: If the data are too few or the time is too short.
        FileExistsError: If ``out`` holds something else, or other data.
        FolderInUseError: If another call works in ``out``.
        KeyboardInterrupt: If the study was interrupted; the same call resumes.

    A call and what to look at first::

        found = discover("pictures/", "found", budget="10m")
        found.ranking.chosen, found.ranking.reason, found.report
    """
    request = _Request(
        data,
        expand_user(out),
        method,
        budget,
        labels,
        executor,
        device,
        seed,
        n_latents,
        objectives,
    )
    with _prepare(request) as prepared:
        return _run(prepared, observer or NullRaceObserver())


def plan_discovery(
    data: Any,
    out: str | os.PathLike[str],
    *,
    method: Method = "sweep",
    budget: str | float | None = None,
    executor: AbstractExecutor | None = None,
    device: str = "auto",
    seed: int = 0,
    n_latents: int = N_LATENTS,
    objectives: Sequence[str] = OBJECTIVES,
) -> Plan:
    """Return the plan of a discovery without training anything.

    The plan is written to ``out/plan.json``, and :func:`discover` with the same
    arguments follows it. The arguments are those of :func:`discover`.
    """
    request = _Request(
        data,
        expand_user(out),
        method,
        budget,
        None,
        executor,
        device,
        seed,
        n_latents,
        objectives,
    )
    with _prepare(request) as prepared:
        return prepared.plan


class _Request(NamedTuple):
    """The arguments of :func:`discover`."""

    data: Any
    folder: Path
    method: Method
    budget: str | float | None
    labels: Any
    executor: AbstractExecutor | None
    device: str
    seed: int
    n_latents: int
    objectives: Sequence[str]


class _Prepared(NamedTuple):
    """Everything that is needed to start training."""

    folder: Path
    source: Source
    plan: Plan
    labels: FewLabels | None
    executor: AbstractExecutor
    device: str


@contextmanager
def _prepare(request: _Request) -> Iterator[_Prepared]:
    """Check the arguments, lock the folder, read the data, and make a plan."""
    check_option("method", request.method, Method)
    objectives = read_objectives(request.objectives)
    if request.method != "sweep" and objectives != OBJECTIVES:
        raise ValueError(
            "objectives can be chosen for the method 'sweep' only, got method "
            f"{request.method!r}."
        )
    folder, device, executor = request.folder, request.device, request.executor
    seconds = None if request.budget is None else parse_duration(request.budget)
    require_writable(folder)
    plan = read_plan(folder)
    require_own(folder, plan)
    with locked(folder / "discover.lock") as is_ours:
        if not is_ours:
            raise FolderInUseError(
                f"discover: another process works in {str(folder)!r}. Wait until it is "
                "done, or choose another folder with --out."
            )
        source = read_source(request.data, folder / "data")
        labels = None
        if request.labels is not None:
            labels = read_labels(request.labels, len(source.dataset), source.names)
        is_remote = isinstance(executor, RayExecutor)
        if not is_remote:
            choose_device(device)  # refuses one that this machine does not have
        executor = executor or LocalExecutor(count_workers(device))
        limits = Limits(
            seconds=seconds,
            n_workers=executor.n_workers,
            # The machines of a cluster are taken to be like this one.
            device="cpu" if is_remote else device,
            seed=request.seed,
            n_latents=request.n_latents,
            objectives=objectives,
        )
        plan = make_plan(folder, source, request.method, limits, plan)
        trained_on = DataSpec.parse(str(plan.study.base["data"]))
        source = reopen_source(source, trained_on, plan.factor, folder / "data")
        with executor:  # all rounds of the race use the same workers
            yield _Prepared(folder, source, plan, labels, executor, device)


def _run(prepared: _Prepared, observer: RaceObserver) -> Discovery:
    """Train the rounds of the plan, rank the finished runs, and write the result."""
    folder, source, plan, labels, executor, device = prepared
    study = StudyFolder(folder / "study")
    rows = sample_rows(source.dataset, _ROWS_COMPARED)
    race = Race(folder, study, executor, device, observer)
    plan = race.run_rounds(plan)

    def run_last() -> tuple[StudyResult, Population]:
        result = race.run_round(plan, plan.last_rung)
        dataset = source.dataset
        return result, collect_evidence(
            result.runs,
            study,
            dataset,
            rows,
            n_tried=plan.n_configurations,
            labels=labels,
        )

    try:
        result, population = run_last()
    except NewerFormatError:
        raise
    except CheckpointFormatError:
        result, population = run_last()  # trains the runs of damaged models again
    ranking = rank_models(population.evidence)
    discovery = write_discovery(folder, source, plan, result, population, ranking)
    delete_spare_states(plan, study, source.content.fingerprint)
    return discovery
