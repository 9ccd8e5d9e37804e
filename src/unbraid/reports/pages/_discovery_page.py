"""The report of a discovery."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from unbraid.data import AbstractDataset
from unbraid.foundation import CheckpointFormatError, format_duration, from_plain
from unbraid.models import RECORDS
from unbraid.models.objectives import AbstractObjective
from unbraid.reports.figures._frames import is_done, texts
from unbraid.reports.figures._ranking import Place, draw_agreement
from unbraid.studies import RunRecord, make_table, study_from_plain
from unbraid.training import hash_of_model

from ._comparison_section import comparison_section, main_score, ranking_block
from ._discovery_record import DiscoveryRecord
from ._dynamics_block import TrainingPaths, dynamics_picture, read_paths
from ._embed import Gallery, picture
from ._evolution_section import evolution_section
from ._model_section import model_section
from ._page import Frame, Notice, Page, Picture, Section, Table
from ._race_section import race_section
from ._scores_table import number, scores_table
from ._settings_section import settings_section
from ._study_page import open_data
from ._study_sections import asked_section, run_notices, trained_section

# What values of other types than a discovery writes may raise.
_WRONG = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError),
    *(TypeError, ValueError),
)
_UNFINISHED = (
    "It is not finished: no model has been chosen yet. The same command goes on with "
    "it."
)


def discovery_page(record: DiscoveryRecord) -> Page:
    """Return the page of a discovery.

    Args:
        record: Everything that the page shows.

    Raises:
        CheckpointFormatError: If the files of the discovery are damaged.
    """
    try:
        return _page(record)
    except CheckpointFormatError:
        raise
    except _WRONG as error:
        is_planned = record.result is None
        file = record.folder / "plan.json" if is_planned else record.result_file
        raise CheckpointFormatError(
            f"{file}: the file is damaged: it does not hold what a discovery writes "
            f"({type(error).__name__}: {error}). `unbraid discover` writes it again."
        ) from error


def _page(record: DiscoveryRecord) -> Page:
    plan, runs, found = record.plan, record.runs, record.result
    title = record.folder.resolve().name
    if record.study is None:
        return _planned_page(record, title)
    table = make_table(runs)
    asked = asked_section([run.cell.spec for run in runs], words=_asked(plan))
    last = (trained_section(table), settings_section(record.study, runs))
    if found is None:
        return Page(
            kind="Discovery",
            title=title,
            lead=_UNFINISHED,
            facts=_counts(table),
            notices=run_notices(runs, table),
            sections=tuple(filter(None, (race_section(plan), asked, *last))),
        )
    _check_model(record, found)
    ranking, score = found["ranking"], main_score(table)
    comparison = comparison_section(table, score) if score else None
    dataset, why = _open_data(record)
    sections = [
        _chosen_section(record, found, dataset, (why,) if why else ()),
        _ranking_section(found, record),
        race_section(plan),
        _bred_section(found, runs, dataset),
        asked,
        comparison,
        *last,
    ]
    return Page(
        kind="Discovery",
        title=title,
        lead=_lead(ranking),
        facts=_facts(found, table),
        notices=(*_refusal(ranking), *run_notices(runs, table)),
        sections=tuple(section for section in sections if section is not None),
    )


def _open_data(record: DiscoveryRecord) -> tuple[AbstractDataset | None, str]:
    """Return the data, or ``None`` and why they cannot be read."""
    if record.dataset is not None:
        return record.dataset, ""
    return open_data(record.runs[0].cell.spec.data)


def _check_model(record: DiscoveryRecord, found: dict[str, Any]) -> None:
    """Refuse a model that is not the one that was chosen."""
    known, folder = found.get("weights"), record.result_file.parent / "model"
    # Results of the first versions do not name it.
    if record.model is not None or known is None:
        return
    if hash_of_model(folder) not in (known, None):
        raise CheckpointFormatError(
            f"{folder}: this is not the model that discovery.json beside it names. "
            "`unbraid discover` writes both again."
        )


def _bred_section(
    found: dict[str, Any],
    runs: Sequence[RunRecord],
    dataset: AbstractDataset | None,
) -> Section | None:
    """How the chosen model was bred, or the first one if none was chosen."""
    done = [run for run in runs if run.state == "done"]
    own = [run for run in done if run.id == found.get("run")] or done
    return evolution_section(own[0], dataset) if own else None


def _planned_page(record: DiscoveryRecord, title: str) -> Page:
    """Return the page of a discovery that has not trained anything yet."""
    plan = record.plan
    study = study_from_plain(plan["study"], str(record.folder / "plan.json"))
    specs = study.runs()
    return Page(
        kind="Discovery",
        title=title,
        lead=_UNFINISHED,
        facts=(("runs", number(len(specs))), ("done", "0")),
        notices=(Notice(level="note", title="Not finished: nothing was trained yet."),),
        sections=(
            asked_section(specs, words=_asked(plan)),
            settings_section(study, ()),
        ),
    )


def _counts(table: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    return (
        ("runs", number(len(table))),
        ("done", number(int(is_done(table).sum()))),
        ("failed", number(texts(table, "status").count("failed"))),
    )


def _lead(ranking: dict[str, Any]) -> str:
    if ranking["chosen"] is None:
        return "Nothing was chosen."
    return f"Chosen without labels: {ranking['chosen']}. {ranking['reason']}"


def _refusal(ranking: dict[str, Any]) -> tuple[Notice, ...]:
    if ranking["chosen"] is not None:
        return ()
    advice = (
        ("", "Try a larger --budget."),
        ("", "Look at the data: `unbraid data check` finds broken or equal pictures."),
    )
    return (Notice(level="problem", title=ranking["reason"], items=advice),)


def _facts(found: dict[str, Any], table: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    facts = [
        ("models trained", number(int(is_done(table).sum()))),
        ("specifications", number(len(found["ranking"]["specifications"]))),
    ]
    if found["latents"]:
        facts.append(("active latents", number(len(found["latents"]))))
    quality = found.get("quality")
    if quality:
        facts += [
            ("MIG of the chosen", number(quality["chosen"])),
            ("better than", f"{quality['better_than']:.0%} of the others"),
        ]
    return tuple(facts)


def _asked(plan: dict[str, Any]) -> tuple[str, ...]:
    seconds = plan["asked"].get("seconds")
    time = (
        f"in {format_duration(seconds)}"
        if seconds
        else "in the time that a choice needs"
    )
    return (
        f"Find a representation of these images {time}, without labels. Every "
        "configuration is trained with several seeds, to see which ones agree.",
    )


def _chosen_section(
    record: DiscoveryRecord,
    found: dict[str, Any],
    dataset: AbstractDataset | None,
    notes: tuple[str, ...],
) -> Section | None:
    if found["ranking"]["chosen"] is None:
        return None
    run = next((run for run in record.runs if run.id == found.get("run")), None)
    section = model_section(
        "The chosen model",
        record.result_file.parent / "model",
        dataset,
        name=found["ranking"]["chosen"],
        history=None if run is None else run.cell.files.path,
        words=notes,
        model=record.model,
        traversals=record.traversals,
        objective=_objective(run, dataset),
    )
    blocks = list(section.blocks)
    if found["latents"]:
        blocks.insert(2, _latents(found["latents"]))
    scores = None if run is None else scores_table(run.scores.get("scores", {}))
    if scores is not None:
        blocks.append(scores)
    words = (*section.words, *_quality(found))
    return Section(title=section.title, words=words, blocks=tuple(blocks))


def _objective(
    run: RunRecord | None, dataset: AbstractDataset | None
) -> AbstractObjective | None:
    """Return the objective of a run; ``None`` for a population, where it changes."""
    if run is None or dataset is None or run.cell.spec.evolution is not None:
        return None
    spec = run.cell.spec
    objective = from_plain(spec.objective, RECORDS)
    return objective.for_data(dataset).over(spec.training.steps)


def _quality(found: dict[str, Any]) -> tuple[str, ...]:
    quality = found.get("quality")
    if not quality:
        return ()
    return (
        f"By labels that were not used to choose, its MIG is {quality['chosen']:.3f}; "
        f"the median of all models is {quality['median']:.3f}, the best "
        f"{quality['best']:.3f}.",
    )


def _latents(latents: list[dict[str, Any]]) -> Table:
    return Table(
        title="Its latents",
        columns=("latent", "nats", "change of a pixel"),
        rows=tuple(
            (f"z{part['number']}", number(part["kl"], 2), number(part["change"]))
            for part in latents
        ),
        words="Nats that each says about an image, and how much a pixel changes on "
        "average while it moves from -2 to 2.",
        data=pd.DataFrame(latents),
        file="latents.csv",
    )


def _ranking_section(found: dict[str, Any], record: DiscoveryRecord) -> Section:
    ranking = found["ranking"]
    specifications = ranking["specifications"]
    names = [model["specification"] for model in ranking["models"]]
    places = tuple(
        Place(
            spec["name"],
            spec["score"],
            tuple(spec["interval"]),
            spec["group"],
            names.count(spec["name"]),
        )
        for spec in specifications
    )
    evidence = found.get("evidence") or {}
    blocks: list[Picture | Table | Frame] = [
        ranking_block(places, "score", of="Specifications"),
        _places_table(specifications, evidence),
    ]
    if evidence:
        blocks.append(_agreement(evidence))
    words = [
        "The score is the number of latents that other seeds find again, relative to "
        "the best; how alike their training went and ELBO decide between near equals. "
        "1 is first in everything, 0 is last."
    ]
    labels = ranking.get("labels")
    if labels:
        words.append(
            f"{labels['n_labels']} labels were given and decided "
            f"{labels['weight']:.0%} of the score; the order with and without them "
            f"agrees to {labels['agreement']:.2f}."
        )
    gallery = Gallery()
    gallery.add("How seeds learnt", lambda: _chosen_dynamics(found, record))
    gallery.add("How other seeds learnt", lambda: _worst_dynamics(found, record))
    words += [f"{name}: not drawn. {why}" for name, why in gallery.missing]
    blocks += gallery.pictures
    return Section(title="Ranking", words=tuple(words), blocks=tuple(blocks))


def _chosen_dynamics(found: dict[str, Any], record: DiscoveryRecord) -> Picture | None:
    name = _specification(found)
    title = f"How the seeds of {name} learnt, which was chosen"
    paths = _find_paths(found, record, name) if name else None
    return None if paths is None else dynamics_picture(title, paths)


def _worst_dynamics(found: dict[str, Any], record: DiscoveryRecord) -> Picture | None:
    """Of the specification whose seeds differ most, to see what that looks like."""
    evidence = found.get("evidence") or {}
    known = {
        part["name"]: part["dynamics"]
        for part in evidence.get("specifications", ())
        if part.get("dynamics") is not None
    }
    name = max(known, key=lambda name: known[name], default="")
    if not name or name == _specification(found):
        return None
    title = f"How the seeds of {name} learnt, which differ most"
    paths = _find_paths(found, record, name)
    if paths is None:
        return None
    return dynamics_picture(title, paths, file="dynamics-worst")


def _specification(found: dict[str, Any]) -> str:
    """That of the chosen model; empty if there is none."""
    ranking = found["ranking"]
    owners = {model["name"]: model["specification"] for model in ranking["models"]}
    return owners.get(ranking["chosen"], "")


def _find_paths(
    found: dict[str, Any], record: DiscoveryRecord, specification: str
) -> TrainingPaths | None:
    """Return how the seeds of a specification learned, as far as traces were kept."""
    if record.paths is not None:
        return record.paths.get(specification)
    models = (found.get("evidence") or {}).get("models", ())
    ids = {model["run"] for model in models if model["specification"] == specification}
    return read_paths([run for run in record.runs if run.id in ids and run.is_active])


def _places_table(specifications: list[dict[str, Any]], evidence: Any) -> Table:
    more = ("agreement", "chance", "dynamics", "active latents", "ELBO")
    measured = {part["name"]: part for part in evidence.get("specifications", ())}
    rows = []
    for place, spec in enumerate(specifications):
        low, high = spec["interval"]
        own = measured.get(spec["name"])
        cells = [number(own.get(name)) for name in more] if own else []
        rows.append(
            (
                str(place + 1),
                spec["name"],
                number(spec["score"], 2),
                f"{number(low, 2)} to {number(high, 2)}",
                str(spec["group"] + 1),
                "yes" if spec["better_than_chance"] else "no",
                *cells,
            )
        )
    columns = ("place", "specification", "score", "95% interval", "group")
    columns += ("better than chance", *(more if measured else ()))
    return Table(
        title="Specifications",
        columns=columns,
        rows=tuple(rows),
        words="A group holds what cannot be told apart. Agreement must be above what "
        "codes reach whose axes mean nothing (chance); lower dynamics are steadier.",
        data=pd.DataFrame(rows, columns=list(columns)),
        file="specifications.csv",
    )


def _agreement(evidence: dict[str, Any]) -> Picture:
    pairs = np.array(
        [
            [np.nan if cell is None else cell for cell in row]
            for row in evidence["pairs"]
        ],
        dtype=np.float64,
    )
    models = evidence["models"]
    data = pd.DataFrame(pairs, columns=[model["name"] for model in models])
    data.insert(0, "model", [model["name"] for model in models])
    return picture(
        "Who agrees with whom",
        draw_agreement(pairs, groups=[model["specification"] for model in models]),
        words="Every two models that were compared. Blocks are seeds of one "
        "specification: light ones find the same latents again and again.",
        data=data,
        file="agreement",
    )
