"""The report of a discovery, from the files that it wrote."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unbraid.foundation import CheckpointFormatError, format_duration, read_json
from unbraid.reports.figures._frames import is_done, texts
from unbraid.reports.figures._ranking import Place, draw_agreement
from unbraid.studies import Cell, StudyFolder, study_from_plain, study_table
from unbraid.training import read_model_hash

from ._comparison_section import comparison_section, main_score, ranking_block
from ._dynamics_block import dynamics_picture, is_awake
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


def discovery_page(path: Path, result: Path | None = None) -> Page:
    """Everything about a discovery that its folder tells.

    Args:
        path: Its folder.
        result: Folder of the result; that of the discovery when not given.
    """
    result = result or path
    file = path / "plan.json"
    try:
        return _page(path, result)
    except CheckpointFormatError:
        raise
    except _WRONG as error:
        if (result / "discovery.json").is_file():
            file = result / "discovery.json"
        raise CheckpointFormatError(
            f"{file}: the file is damaged: it does not hold what a discovery writes "
            f"({type(error).__name__}: {error}). `unbraid discover` writes it again."
        ) from error


def _page(path: Path, result: Path) -> Page:
    plan = read_json(path / "plan.json", kind="plan of a discovery")
    folder = StudyFolder(path / "study")
    if not folder.study_file.is_file():
        return _planned_page(path, plan)
    table = study_table(folder.path)
    asked = asked_section([cell.spec for cell in folder.cells], words=_asked(plan))
    last = (trained_section(table), settings_section(folder.study, folder.cells))
    if not (result / "discovery.json").is_file():
        return Page(
            kind="Discovery",
            title=path.resolve().name,
            lead=_UNFINISHED,
            facts=_counts(table),
            notices=run_notices(folder, table),
            sections=tuple(filter(None, (race_section(plan), asked, *last))),
        )
    found = read_json(result / "discovery.json", kind="discovery")
    _check_model(result, found)
    ranking, score = found["ranking"], main_score(table)
    comparison = comparison_section(table, score) if score else None
    sections = [
        _chosen_section(result, found, folder),
        _ranking_section(found, folder),
        race_section(plan),
        _bred_section(found, folder),
        asked,
        comparison,
        *last,
    ]
    return Page(
        kind="Discovery",
        title=path.resolve().name,
        lead=_lead(ranking),
        facts=_facts(found, table),
        notices=(*_refusal(ranking), *run_notices(folder, table)),
        sections=tuple(section for section in sections if section is not None),
    )


def _check_model(result: Path, found: dict[str, Any]) -> None:
    """Refuse a model that is not the one that was chosen."""
    known = found.get("weights")
    # Results of the first versions do not name it.
    if known is not None and read_model_hash(result / "model") not in (known, None):
        raise CheckpointFormatError(
            f"{result / 'model'}: this is not the model that discovery.json beside it "
            "names. `unbraid discover` writes both again."
        )


def _bred_section(found: dict[str, Any], folder: StudyFolder) -> Section | None:
    """How the chosen model was bred, or the first one if none was chosen."""
    done = [cell for cell in folder.cells if cell.files.scores.is_file()]
    own = [cell for cell in done if cell.id == found.get("run")] or done
    if not own:
        return None
    return evolution_section(own[0], open_data(own[0].spec.data)[0])


def _planned_page(path: Path, plan: dict[str, Any]) -> Page:
    """Of a discovery that was broken off before any training."""
    study = study_from_plain(plan["study"], str(path / "plan.json"))
    specs = study.runs()
    return Page(
        kind="Discovery",
        title=path.resolve().name,
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
    path: Path, found: dict[str, Any], folder: StudyFolder
) -> Section | None:
    if found["ranking"]["chosen"] is None:
        return None
    dataset, why = open_data(folder.cells[0].spec.data)
    run = next((cell for cell in folder.cells if cell.id == found.get("run")), None)
    section = model_section(
        "The chosen model",
        path / "model",
        dataset,
        name=found["ranking"]["chosen"],
        history=None if run is None else run.files.path,
        words=(why,) if why else (),
    )
    blocks = list(section.blocks)
    if found["latents"]:
        blocks.insert(2, _latents(found["latents"]))
    scores = None
    if run is not None:
        scores = scores_table(run.files.read_scores().get("scores", {}))
    if scores is not None:
        blocks.append(scores)
    words = (*section.words, *_quality(found))
    return Section(title=section.title, words=words, blocks=tuple(blocks))


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


def _ranking_section(found: dict[str, Any], folder: StudyFolder) -> Section:
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
    gallery.add("How seeds learnt", lambda: _chosen_dynamics(found, folder))
    gallery.add("How other seeds learnt", lambda: _worst_dynamics(found, folder))
    words += [f"{name}: not drawn. {why}" for name, why in gallery.missing]
    blocks += gallery.pictures
    return Section(title="Ranking", words=tuple(words), blocks=tuple(blocks))


def _chosen_dynamics(found: dict[str, Any], folder: StudyFolder) -> Picture | None:
    name = _specification(found)
    title = f"How the seeds of {name} learnt, which was chosen"
    return dynamics_picture(title, _seeds(found, folder, name)) if name else None


def _worst_dynamics(found: dict[str, Any], folder: StudyFolder) -> Picture | None:
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
    cells = _seeds(found, folder, name)
    return dynamics_picture(title, cells, file="dynamics-worst")


def _specification(found: dict[str, Any]) -> str:
    """That of the chosen model; empty if there is none."""
    ranking = found["ranking"]
    owners = {model["name"]: model["specification"] for model in ranking["models"]}
    return owners.get(ranking["chosen"], "")


def _seeds(
    found: dict[str, Any], folder: StudyFolder, specification: str
) -> list[Cell]:
    """Runs of a specification, without those that learnt nothing."""
    models = (found.get("evidence") or {}).get("models", ())
    runs = {model["run"] for model in models if model["specification"] == specification}
    own = [cell for cell in folder.cells if cell.id in runs]
    return [cell for cell in own if is_awake(cell)]


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
