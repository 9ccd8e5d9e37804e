"""Write the result of a discovery: model, codes, summary, figures and page."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from unbraid.foundation import atomic_write, printable_name, write_json
from unbraid.reports import (
    DiscoveryRecord,
    draw_latent_traversals,
    draw_reconstructions,
    write_explorer,
    write_report,
)
from unbraid.reports.figures import save_figure
from unbraid.selection import Ranking
from unbraid.studies import StudyFolder, StudyResult

from ._chosen import Chosen, use_chosen
from ._data import Source
from ._discovery import Discovery, FailedRun
from ._evidence import Population
from ._facts import DiscoveryFacts, collect_facts
from ._failures import find_failures
from ._plan import Plan
from ._result_folder import choose_result_folder, publish, staged_result
from ._summary import summarize


def write_discovery(
    folder: Path,
    source: Source,
    plan: Plan,
    study: StudyResult,
    population: Population,
    ranking: Ranking,
) -> Discovery:
    """Write the result of a discovery; an earlier one is kept under ``history``.

    A refusal does not replace a model that was chosen before: it is written to
    ``history``.

    Args:
        folder: Folder of the discovery.
        source: Its data.
        plan: Its plan, with the results of the rounds.
        study: Its runs.
        population: The finished runs with their models and evidence.
        ranking: Ranking of the population.
    """
    target = choose_result_folder(folder, is_refusal=ranking.chosen is None)
    facts = collect_facts(source, plan, population)
    chosen = None
    if ranking.chosen is not None:
        chosen = use_chosen(population, ranking.chosen, source.dataset)
    failures = find_failures(
        plan, StudyFolder(folder / "study"), study.runs, source.content.fingerprint
    )
    discovery = _describe(folder, ranking, chosen, failures, target / "summary.txt")
    weights = None if chosen is None else chosen.saved.weights
    with staged_result(folder) as staged:
        if chosen is not None:
            _write_chosen(staged, chosen, source.names)
        _write_summary(staged, target, discovery, facts)
        record = DiscoveryRecord(
            folder=folder,
            plan=plan.to_plain(),
            result=facts.to_plain(discovery, weights),
            study=plan.rung_study(plan.last_rung),
            runs=study.runs,
            model=discovery.model,
            dataset=source.dataset,
            traversals=None if chosen is None else chosen.traversals,
            paths=population.paths,
        )
        if _write_pages(staged, record) is not None:
            discovery = replace(discovery, report=target / "report.html")
        content = facts.to_plain(discovery, weights)
        write_json(staged / "discovery.json", content, kind="discovery")
        target = publish(staged, folder, target)
    report = None if discovery.report is None else target / "report.html"
    return replace(discovery, summary=target / "summary.txt", report=report)


def _describe(
    folder: Path,
    ranking: Ranking,
    chosen: Chosen | None,
    failures: tuple[FailedRun, ...],
    summary: Path,
) -> Discovery:
    """Return the result, before the page is drawn."""
    return Discovery(
        folder=folder,
        ranking=ranking,
        model=None if chosen is None else chosen.model,
        codes=None if chosen is None else chosen.codes,
        latents=() if chosen is None else chosen.latents,
        explained=None if chosen is None else chosen.explained,
        quality=None if chosen is None else chosen.quality,
        failures=failures,
        summary=summary,
        report=None,
    )


def _write_chosen(folder: Path, chosen: Chosen, names: Sequence[str]) -> None:
    chosen.saved.write(folder / "model")
    with atomic_write(folder / "codes.npy") as file:
        np.save(file, chosen.codes.codes.astype(np.float32))
    if names:
        with atomic_write(folder / "files.txt") as file:
            # One line per image, whatever its name is.
            lines = (f"{printable_name(name)}\n" for name in names)
            file.write("".join(lines).encode())
    if chosen.traversals is not None:
        figure = draw_latent_traversals(chosen.traversals)
        save_figure(figure, folder / "traversals.png")
    if chosen.worst is not None:
        figure = draw_reconstructions(chosen.worst)
        save_figure(figure, folder / "worst-reconstructions.png")


def _write_summary(
    staged: Path, target: Path, discovery: Discovery, facts: DiscoveryFacts
) -> None:
    text = summarize(discovery, facts)
    if target != discovery.folder:
        text += (
            "- The model that was chosen before is still in "
            f"{discovery.folder / 'model'}. This result is in {target}.\n"
        )
    with atomic_write(staged / "summary.txt") as file:
        file.write(text.encode(errors="backslashreplace"))


def _write_pages(staged: Path, record: DiscoveryRecord) -> Path | None:
    """Write the explorer and the report, which has it inside and links to it."""
    model, dataset = record.model, record.dataset
    if model is not None and dataset is not None and len(model.image_shape) == 3:
        page, names = staged / "explorer.html", [record.chosen or "A"]
        _attempt(
            "explorer",
            lambda: write_explorer(model, dataset, page, model_names=names),
        )
    page = staged / "report.html"
    return _attempt("report", lambda: write_report(record, page))


def _attempt(what: str, write: Callable[[], Path]) -> Path | None:
    try:
        return write()
    except Exception as error:
        # Whatever it is: hours of training are not lost for a picture.
        message = (
            f"discover: the {what} could not be drawn ({error}). Everything else was "
            "written."
        )
        warnings.warn(message, stacklevel=4)
        return None
