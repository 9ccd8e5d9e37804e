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
from unbraid.reports.figures._ranking import RankedSetting, draw_agreement
from unbraid.studies import RunRecord, make_table, study_from_plain
from unbraid.training import read_model_hash

from ._choice_blocks import choice_blocks
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
from ._study_sections import (
    problem_notices,
    progress_notices,
    run_notices,
    runs_section,
    setup_section,
)

# Errors caused by values of unexpected types.
_WRONG = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError),
    *(TypeError, ValueError),
)
_UNFINISHED = (
    "This discovery is not finished: no model has been chosen yet. Run the same "
    "command again to continue."
)


def discovery_page(record: DiscoveryRecord) -> Page:
    """Return the report of a discovery.

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
            f"{file} is damaged ({type(error).__name__}: {error}). `unbraid discover` "
            "writes it again."
        ) from error


def _page(record: DiscoveryRecord) -> Page:
    plan, runs, found = record.plan, record.runs, record.result
    title = record.folder.resolve().name
    if record.study is None:
        return _planned_page(record, title)
    table = make_table(runs)
    setup = setup_section(
        [run.cell.spec for run in runs], paragraphs=_describe_task(plan)
    )
    last = (runs_section(table), settings_section(record.study, runs))
    if found is None:
        return Page(
            kind="Discovery",
            title=title,
            lead=_UNFINISHED,
            facts=_counts(table),
            notices=run_notices(runs, table),
            sections=tuple(filter(None, (race_section(plan), setup, *last))),
        )
    _check_model(record, found)
    ranking, score = found["ranking"], main_score(table)
    comparison = comparison_section(table, score) if score else None
    dataset, why = _open_data(record)
    sections = [
        _chosen_section(record, found, dataset, (why,) if why else ()),
        _ranking_section(found, record),
        race_section(plan),
        _population_section(found, runs, dataset),
        setup,
        comparison,
        *last,
    ]
    return Page(
        kind="Discovery",
        title=title,
        lead=_lead(ranking),
        facts=_facts(found, table),
        notices=(
            *_refusal(ranking),
            *_failures(found, runs, table),
            *progress_notices(table),
        ),
        sections=tuple(section for section in sections if section is not None),
    )


def _open_data(record: DiscoveryRecord) -> tuple[AbstractDataset | None, str]:
    """Return the data, or ``None`` and why they cannot be read."""
    if record.dataset is not None:
        return record.dataset, ""
    return open_data(record.runs[0].cell.spec.data)


def _check_model(record: DiscoveryRecord, found: dict[str, Any]) -> None:
    """Raise an error if the model is not the one that was chosen."""
    digest, folder = found.get("weights"), record.result_file.parent / "model"
    # Results of the first versions have no hash.
    if record.model is not None or digest is None:
        return
    if read_model_hash(folder) not in (digest, None):
        raise CheckpointFormatError(
            f"{folder} is not the model that discovery.json in the same folder names. "
            "`unbraid discover` writes both again."
        )


def _population_section(
    found: dict[str, Any],
    runs: Sequence[RunRecord],
    dataset: AbstractDataset | None,
) -> Section | None:
    """Return the section about the population of the chosen, or first, model."""
    done = [run for run in runs if run.state == "done"]
    own = [run for run in done if run.id == found.get("run")] or done
    return evolution_section(own[0], dataset) if own else None


def _planned_page(record: DiscoveryRecord, title: str) -> Page:
    """Return the report of a discovery that was interrupted before training."""
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


def _failures(
    found: dict[str, Any], runs: Sequence[RunRecord], table: pd.DataFrame
) -> tuple[Notice, ...]:
    """Return the notice that names the runs of all rounds that failed to learn."""
    failures = found.get("failures")
    if failures is None:  # results of the first versions do not list them
        return problem_notices(runs, table)
    if not failures:
        return ()
    return (
        Notice(
            level="problem",
            title=f"Runs that failed to learn: {len(failures)}.",
            items=tuple((failure["name"], failure["reason"]) for failure in failures),
        ),
    )


def _facts(found: dict[str, Any], table: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    facts = [
        ("models trained", number(int(is_done(table).sum()))),
        ("configurations", number(len(found["ranking"]["specifications"]))),
    ]
    if found["latents"]:
        facts.append(("active latents", number(len(found["latents"]))))
    explained = found.get("explained")
    if explained is not None:
        facts.append(("variation reconstructed", f"{explained:.0%}"))
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
        paragraphs=notes,
        model=record.model,
        traversals=record.traversals,
        objective=_objective(run, dataset),
    )
    blocks = list(section.blocks)
    if found["latents"]:
        blocks.insert(2, _latents_table(found["latents"]))
    scores = None if run is None else scores_table(run.scores.get("scores", {}))
    if scores is not None:
        blocks.append(scores)
    paragraphs = (
        *section.paragraphs,
        *_describe_loss_of_variation(found),
        *_describe_quality(found),
    )
    return Section(title=section.title, paragraphs=paragraphs, blocks=tuple(blocks))


def _objective(
    run: RunRecord | None, dataset: AbstractDataset | None
) -> AbstractObjective | None:
    """Return the objective of a run; ``None`` for a population, where it changes."""
    if run is None or dataset is None or run.cell.spec.evolution is not None:
        return None
    spec = run.cell.spec
    objective = from_plain(spec.objective, RECORDS)
    return objective.for_data(dataset).over(spec.training.steps)


def _describe_loss_of_variation(found: dict[str, Any]) -> tuple[str, ...]:
    explained = found.get("explained")
    if explained is None:
        return ()
    return (
        f"The model reconstructs {explained:.0%} of the variation of the images (the "
        "variance of their pixels). What is missing from the reconstructions is not in "
        "the codes either: look at the worst ones below.",
    )


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


def _ranking_section(found: dict[str, Any], record: DiscoveryRecord) -> Section:
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
        *choice_blocks(ranking),
        _configurations_table(configurations, evidence),
    ]
    if evidence:
        blocks.append(_agreement(evidence))
    paragraphs = [
        "The score of a model is a weighted mean of label-free scores from 0 to 1: how "
        "many latents other seeds also find, and how many change the image "
        "independently of one another, both relative to the most active latents of a "
        "model, and how much it agrees with models of other configurations."
    ]
    labels = ranking.get("labels")
    if labels:
        paragraphs.append(
            f"{labels['n_labels']} labels were given and determine "
            f"{labels['weight']:.0%} of the score. The rank correlation of the order "
            f"with and without labels is {labels['agreement']:.2f}."
        )
    gallery = Gallery()
    gallery.add("Training dynamics", lambda: _chosen_dynamics(found, record))
    gallery.add("Training dynamics of others", lambda: _worst_dynamics(found, record))
    paragraphs += gallery.explanations
    blocks += gallery.pictures
    return Section(title="Ranking", paragraphs=tuple(paragraphs), blocks=tuple(blocks))


def _chosen_dynamics(found: dict[str, Any], record: DiscoveryRecord) -> Picture | None:
    name = _chosen_configuration(found)
    title = f"Training dynamics of {name}, which was chosen"
    paths = _find_paths(found, record, name) if name else None
    return None if paths is None else dynamics_picture(title, paths)


def _worst_dynamics(found: dict[str, Any], record: DiscoveryRecord) -> Picture | None:
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
    paths = _find_paths(found, record, name)
    if paths is None:
        return None
    return dynamics_picture(title, paths, file="dynamics-worst")


def _chosen_configuration(found: dict[str, Any]) -> str:
    """Return the configuration of the chosen model; empty if there is none."""
    ranking = found["ranking"]
    owners = {model["name"]: model["specification"] for model in ranking["models"]}
    return owners.get(ranking["chosen"], "")


def _find_paths(
    found: dict[str, Any], record: DiscoveryRecord, configuration: str
) -> TrainingPaths | None:
    """Return the training dynamics of a configuration, as far as traces were kept."""
    if record.paths is not None:
        return record.paths.get(configuration)
    models = (found.get("evidence") or {}).get("models", ())
    ids = {model["run"] for model in models if model["specification"] == configuration}
    return read_paths([run for run in record.runs if run.id in ids and run.is_active])


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
