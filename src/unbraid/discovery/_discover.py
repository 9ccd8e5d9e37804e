"""discover: images in, a chosen model out, no labels needed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from unbraid.data import DataSpec, open_cached
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
from unbraid.studies import StudyEnd, StudyFolder, run_study
from unbraid.training import choose_device

from ._data import (
    Source,
    downscale,
    read_source,
    reopen_source,
    require_writable,
    sample_rows,
)
from ._found import Discovery, write_found
from ._gather import Population, gather
from ._image_size import choose_factor
from ._labels import FewLabels, read_labels
from ._plan import Plan, read_plan
from ._proposal import N_LATENTS, propose
from ._proposal_evolving import propose_evolution
from ._race import NullRaceObserver, RaceObserver, run_rounds
from ._result_folder import require_own

Method = Literal["sweep", "pbt", "recursive"]

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
    observer: RaceObserver | None = None,
) -> Discovery:
    """Train several models several times, and choose the best without labels.

    Several configurations start a race, each with several seeds. After every round
    those go on whose seeds find the same latents again; most of the time is spent on
    long runs of the last ones, which are then ranked by how many latents other seeds
    find again, how alike their training went, and how well they explain the data. The
    runs are a study in ``out/study``. What is chosen goes into ``out``: the model, the
    codes of all images, pictures of what each latent does, and a text that says how
    sure the choice is.

    The same call resumes after any interruption. A result that is replaced by another
    one is kept in ``out/history``; if nothing is chosen, an earlier model stays, and
    the refusal goes into ``out/history``.

    Args:
        data: A folder of pictures, a file of arrays, a name with options, a dataset, or
            an array of images.
        out: Folder for everything that is found.
        method: ``"sweep"``: a race between configurations from a list.
            ``"pbt"``: populations whose settings change while they train, scored by
            how well their models agree (PBT-U-VAE). ``"recursive"``: such populations
            on ever more uniform images, and one more that learns all that they found
            (rPU-VAE).
        budget: Time until the end, such as ``"10m"``, or seconds; when not given, from
            a short timing of these data.
        labels: Labels of 20 to 1,000 images, if there are any: a data frame, mapping or
            CSV file with a column ``row`` or ``file``, and one per factor. They help to
            choose, and the ranking says how much they changed.
        executor: Where to compute; on the cores of this machine when not given.
        device: Device of each run; ``"auto"`` takes the first of cuda, mps and cpu that
            is available.
        seed: Seed of the first run of each configuration.
        n_latents: Number of latents of each model, more than the data have factors.
        observer: Is told what happens, for a progress display.

    Returns:
        What was found. Its ``model`` is ``None`` if no model is better than chance.

    Raises:
        ValueError: If the data are too few or the time is too short.
        FileExistsError: If ``out`` holds something else, or other data.
        FolderInUseError: If another call works in ``out``.
        KeyboardInterrupt: If the study was interrupted; the same call goes on.

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
) -> Plan:
    """Return the plan of a discovery without training anything.

    The plan is written to ``out/plan.json``, and :func:`discover` with the same
    arguments follows it. The arguments are those of :func:`discover`.
    """
    request = _Request(
        data, expand_user(out), method, budget, None, executor, device, seed, n_latents
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
    folder, device, executor = request.folder, request.device, request.executor
    seconds = None if request.budget is None else parse_duration(request.budget)
    require_writable(folder)
    require_own(folder)
    with locked(folder / "discover.lock") as is_ours:
        if not is_ours:
            raise FolderInUseError(
                f"discover: another process works in {str(folder)!r}. Wait until it is "
                "done, or choose another folder with --out."
            )
        open_cached.cache_clear()  # the data may have changed since an earlier call
        source = read_source(request.data, folder / "data")
        labels = None
        if request.labels is not None:
            labels = read_labels(request.labels, len(source.dataset), source.names)
        is_remote = isinstance(executor, RayExecutor)
        if not is_remote:
            choose_device(device)  # refuses one that this machine does not have
        executor = executor or LocalExecutor(count_workers(device))
        plan = _plan(
            folder,
            source,
            request.method,
            seconds,
            n_workers=executor.n_workers,
            seed=request.seed,
            # The machines of a cluster are taken to be like this one.
            device="cpu" if is_remote else device,
            n_latents=request.n_latents,
        )
        trained_on = DataSpec.parse(str(plan.study.base["data"]))
        source = reopen_source(source, trained_on, plan.factor, folder / "data")
        yield _Prepared(folder, source, plan, labels, executor, device)


def _run(prepared: _Prepared, observer: RaceObserver) -> Discovery:
    """Train the rounds of the plan, rank the finished runs, and write the result."""
    folder, source, plan, labels, executor, device = prepared
    study = StudyFolder(folder / "study")
    rows = sample_rows(source.dataset, _ROWS_COMPARED)
    plan = run_rounds(plan, folder, executor=executor, device=device, observer=observer)

    def compute() -> tuple[StudyEnd, Population]:
        last = max(len(plan.rungs) - 1, 0)
        observer.begin_rung(plan, last)
        end = run_study(
            plan.rung_study(last),
            study.path,
            executor=executor,
            device=device,
            observer=observer,
        )
        if end.left:
            raise KeyboardInterrupt(
                f"discover: {end.reason}, {end.left} runs left in {folder}"
            )
        return end, gather(study, source.dataset, rows, labels=labels)

    try:
        end, population = compute()
    except NewerFormatError:
        raise
    except CheckpointFormatError:
        end, population = compute()  # trains the runs of damaged models again
    ranking = rank_models(population.evidence)
    return write_found(folder, source, plan, population, ranking, n_failed=end.failed)


def _plan(
    folder: Path,
    source: Source,
    method: Method,
    seconds: float | None,
    *,
    n_workers: int,
    seed: int,
    device: str,
    n_latents: int,
) -> Plan:
    """Return the plan of the folder, or a new one if something else is asked for."""
    fingerprint = source.dataset.fingerprint()
    asked: dict[str, Any] = {"seconds": seconds, "seed": seed}
    if method != "sweep":
        asked["method"] = method
    if n_latents != N_LATENTS:
        asked["n_latents"] = n_latents
    known = read_plan(folder)
    if known is not None and known.fingerprint != fingerprint:
        raise FileExistsError(
            f"discover: expected a new folder or one with these data, got "
            f"{str(folder)!r}, which holds a discovery in other data. Choose another "
            "with --out."
        )
    if known is not None and known.asked == asked:
        return known
    wanted: dict[str, Any] = {
        "seconds": seconds,
        "n_workers": n_workers,
        "seed": seed,
        "device": device,
        "n_latents": n_latents,
    }
    factor, notes = 1, ()
    if method == "sweep":
        limits = {"seconds": seconds, "n_workers": n_workers, "device": device}
        factor, notes = choose_factor(source.dataset.image_shape, **limits)
        if factor > 1:
            source = downscale(source, factor, folder / "data")
        proposal = propose(source.data, source.dataset, **wanted)
    else:
        proposal = propose_evolution(method, source.data, source.dataset, **wanted)
    plan = Plan(
        fingerprint,
        asked,
        proposal.study,
        proposal.seconds,
        proposal.rungs,
        notes=notes,
        factor=factor,
    )
    plan.write(folder)
    return plan
