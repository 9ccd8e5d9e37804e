"""The report of a discovery."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unbraid.foundation import CheckpointFormatError, format_duration, read_json
from unbraid.reports.figures._frames import is_done, texts
from unbraid.reports.figures._ranking import RankedSetting, draw_agreement
from unbraid.studies import Cell, StudyFolder, study_from_plain, study_table
from unbraid.training import read_model_hash

from ._comparison_section import comparison_section, main_score, ranking_block
from ._dynamics_block import dynamics_picture, has_active_latents
from ._embed import Gallery, picture
from ._evolution_section import evolution_section
from ._model_section import model_section
from ._page import Frame, Notice, Page, Picture, Section, Table
from ._race_section import race_section
from ._scores_table import number, scores_table
from ._settings_section import settings_section
from ._study_page import open_data
from ._study_sections import run_notices, runs_section, setup_section

# Errors caused by values of unexpected types.
_WRONG = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError),
    *(TypeError, ValueError),
)
_UNFINISHED = (
    "This discovery is not finished: no model has been chosen yet. Run the same "
    "command again to continue."
)


def discovery_page(path: Path, result: Path | None = None) -> Page:
    """Return the report of a discovery.

    Args:
        path: Folder of the discovery.
        result: Folder of the result. Default: the folder of the discovery.
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
            f"{file} is damaged ({type(error).__name__}: {error}). `unbraid discover` "
            "writes it again."
        ) from error


def _page(path: Path, result: Path) -> Page:
    plan = read_json(path / "plan.json", kind="plan of a discovery")
    folder = StudyFolder(path / "study")
    if not folder.study_file.is_file():
        return _planned_page(path, plan)
    table = study_table(folder.path)
    setup = setup_section(
        [cell.spec for cell in folder.cells], paragraphs=_describe_task(plan)
    )
    last = (runs_section(table), settings_section(folder.study, folder.cells))
    if not (result / "discovery.json").is_file():
        return Page(
            kind="Discovery",
            title=path.resolve().name,
            lead=_UNFINISHED,
            facts=_counts(table),
            notices=run_notices(folder, table),
            sections=tuple(filter(None, (race_section(plan), setup, *last))),
        )
    found = read_json(result / "discovery.json", kind="discovery")
    _check_model(result, found)
    ranking, score = found["ranking"], main_score(table)
    comparison = comparison_section(table, score) if score else None
    sections = [
        _chosen_section(result, found, folder),
        _ranking_section(found, folder),
        race_section(plan),
        _population_section(found, folder),
        setup,
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
    """Raise an error if the model is not the one that was chosen."""
    digest = found.get("weights")
    # Results of the first versions have no hash.
    if digest is not None and read_model_hash(result / "model") not in (digest, None):
        raise CheckpointFormatError(
            f"{result / 'model'} is not the model that discovery.json in the same "
            "folder names. `unbraid discover` writes both again."
        )


def _population_section(found: dict[str, Any], folder: StudyFolder) -> Section | None:
    """Return the section about the population of the chosen, or first, model."""
    done = [cell for cell in folder.cells if cell.files.scores.is_file()]
    own = [cell for cell in done if cell.id == found.get("run")] or done
    if not own:
        return None
    return evolution_section(own[0], open_data(own[0].spec.data)[0])


def _planned_page(path: Path, plan: dict[str, Any]) -> Page:
    """Return the report of a discovery that was interrupted before training."""
    study = study_from_plain(plan["study"], str(path / "plan.json"))
    specs = study.runs()
    return Page(
        kind="Discovery",
        title=path.resolve().name,
        lead=_UNFINISHED,
        facts=(("runs", number(len(specs))), ("done", "0")),
        notices=(Notice(level="note", title="Not finished: nothing was trained yet."),),
        sections=(
            setup_section(specs, paragraphs=_describe_task(plan)),
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
        return "No model was chosen."
    return f"Chosen without labels: {ranking['chosen']}. {ranking['reason']}"


def _refusal(ranking: dict[str, Any]) -> tuple[Notice, ...]:
    if ranking["chosen"] is not None:
        return ()
    advice = (
        ("", "Try a larger --budget."),
        ("", "Run `unbraid data check` to find damaged or duplicate images."),
    )
    return (Notice(level="problem", title=ranking["reason"], items=advice),)


def _facts(found: dict[str, Any], table: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    facts = [
        ("models trained", number(int(is_done(table).sum()))),
        ("configurations", number(len(found["ranking"]["specifications"]))),
    ]
    if found["latents"]:
        facts.append(("active latents", number(len(found["latents"]))))
    quality = found.get("quality")
    if quality:
        facts += [
            ("MIG of the chosen model", number(quality["chosen"])),
            ("better than", f"{quality['better_than']:.0%} of the others"),
        ]
    return tuple(facts)


def _describe_task(plan: dict[str, Any]) -> tuple[str, ...]:
    seconds = plan["asked"].get("seconds")
    time = (
        f"in {format_duration(seconds)}" if seconds else "in as much time as it takes"
    )
    return (
        f"The task: find a disentangled representation {time}, without labels. Every "
        "configuration is trained with several seeds to see which ones agree.",
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
        paragraphs=(why,) if why else (),
    )
    blocks = list(section.blocks)
    if found["latents"]:
        blocks.insert(2, _latents_table(found["latents"]))
    scores = None
    if run is not None:
        scores = scores_table(run.files.read_scores().get("scores", {}))
    if scores is not None:
        blocks.append(scores)
    paragraphs = (*section.paragraphs, *_describe_quality(found))
    return Section(title=section.title, paragraphs=paragraphs, blocks=tuple(blocks))


def _describe_quality(found: dict[str, Any]) -> tuple[str, ...]:
    quality = found.get("quality")
    if not quality:
        return ()
    return (
        "Measured on labels that were not used for the choice, the MIG of this model "
        f"is {quality['chosen']:.3f}. The median of all models is "
        f"{quality['median']:.3f}, and the best is {quality['best']:.3f}.",
    )


def _latents_table(latents: list[dict[str, Any]]) -> Table:
    return Table(
        title="Active latents",
        columns=("latent", "nats", "pixel change"),
        rows=tuple(
            (f"z{part['number']}", number(part["kl"], 2), number(part["change"]))
            for part in latents
        ),
        caption="Mean KL divergence of each latent, and the mean change of a pixel "
        "while the latent moves from -2 to 2.",
        data=pd.DataFrame(latents),
        file="latents.csv",
    )


def _ranking_section(found: dict[str, Any], folder: StudyFolder) -> Section:
    ranking = found["ranking"]
    configurations = ranking["specifications"]
    names = [model["specification"] for model in ranking["models"]]
    ranked = tuple(
        RankedSetting(
            spec["name"],
            spec["score"],
            tuple(spec["interval"]),
            spec["group"],
            names.count(spec["name"]),
        )
        for spec in configurations
    )
    evidence = found.get("evidence") or {}
    blocks: list[Picture | Table | Frame] = [
        ranking_block(ranked, "score", of="Configurations"),
        _configurations_table(configurations, evidence),
    ]
    if evidence:
        blocks.append(_agreement(evidence))
    paragraphs = [
        "The score is the number of latents that other seeds also find, relative to "
        "the best configuration. The similarity of training dynamics and the ELBO "
        "decide between nearly equal ones. 1 is first in everything, 0 is last."
    ]
    labels = ranking.get("labels")
    if labels:
        paragraphs.append(
            f"{labels['n_labels']} labels were given and determine "
            f"{labels['weight']:.0%} of the score. The rank correlation of the order "
            f"with and without labels is {labels['agreement']:.2f}."
        )
    gallery = Gallery()
    gallery.add("Training dynamics", lambda: _chosen_dynamics(found, folder))
    gallery.add("Training dynamics of others", lambda: _worst_dynamics(found, folder))
    paragraphs += gallery.explanations
    blocks += gallery.pictures
    return Section(title="Ranking", paragraphs=tuple(paragraphs), blocks=tuple(blocks))


def _chosen_dynamics(found: dict[str, Any], folder: StudyFolder) -> Picture | None:
    name = _chosen_configuration(found)
    title = f"Training dynamics of {name}, which was chosen"
    return dynamics_picture(title, _select_runs(found, folder, name)) if name else None


def _worst_dynamics(found: dict[str, Any], folder: StudyFolder) -> Picture | None:
    """Draw the dynamics of the configuration whose seeds differ most, as a contrast."""
    evidence = found.get("evidence") or {}
    dynamics = {
        part["name"]: part["dynamics"]
        for part in evidence.get("specifications", ())
        if part.get("dynamics") is not None
    }
    name = max(dynamics, key=lambda name: dynamics[name], default="")
    if not name or name == _chosen_configuration(found):
        return None
    title = f"Training dynamics of {name}, whose seeds differ most"
    cells = _select_runs(found, folder, name)
    return dynamics_picture(title, cells, file="dynamics-worst")


def _chosen_configuration(found: dict[str, Any]) -> str:
    """Return the configuration of the chosen model; empty if there is none."""
    ranking = found["ranking"]
    owners = {model["name"]: model["specification"] for model in ranking["models"]}
    return owners.get(ranking["chosen"], "")


def _select_runs(
    found: dict[str, Any], folder: StudyFolder, configuration: str
) -> list[Cell]:
    """Return the runs of a configuration that have active latents."""
    models = (found.get("evidence") or {}).get("models", ())
    runs = {model["run"] for model in models if model["specification"] == configuration}
    own = [cell for cell in folder.cells if cell.id in runs]
    return [cell for cell in own if has_active_latents(cell)]


def _configurations_table(configurations: list[dict[str, Any]], evidence: Any) -> Table:
    more = ("agreement", "chance", "dynamics", "active latents", "ELBO")
    measured = {part["name"]: part for part in evidence.get("specifications", ())}
    rows = []
    for index, spec in enumerate(configurations):
        low, high = spec["interval"]
        own = measured.get(spec["name"])
        cells = [number(own.get(name)) for name in more] if own else []
        rows.append(
            (
                str(index + 1),
                spec["name"],
                number(spec["score"], 2),
                f"{number(low, 2)} to {number(high, 2)}",
                str(spec["group"] + 1),
                "yes" if spec["better_than_chance"] else "no",
                *cells,
            )
        )
    columns = ("rank", "configuration", "score", "95% interval", "group")
    columns += ("better than chance", *(more if measured else ()))
    return Table(
        title="Configurations",
        columns=columns,
        rows=tuple(rows),
        caption="Configurations of one group do not differ significantly. Agreement "
        "should be above the chance level, which randomly rotated codes reach. Lower "
        "dynamics mean that seeds learn more alike.",
        data=pd.DataFrame(rows, columns=list(columns)),
        file="configurations.csv",
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
        "Agreement between models",
        draw_agreement(pairs, groups=[model["specification"] for model in models]),
        caption="Agreement of every two models. Blocks on the diagonal are seeds of "
        "one configuration: in light blocks, they find the same latents.",
        data=data,
        file="agreement",
    )
