"""The report of a single run or model."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from unbraid.data import AbstractDataset
from unbraid.foundation import CheckpointFormatError, read_json
from unbraid.studies import RunFiles
from unbraid.training import RunFolder, read_history, score_curves

from ._dynamics_block import trace_picture
from ._embed import Gallery
from ._model_section import model_section
from ._page import Notice, Page, Preformatted, Section, Table
from ._score_curves_section import run_score_blocks
from ._scores_table import number, scores_table
from ._settings_section import versions_table
from ._study_page import open_data
from ._training_data import find_training_data


def run_page(path: Path, data: AbstractDataset | None = None) -> Page:
    """Return the report of a run.

    Args:
        path: Folder of the run.
        data: Training data. Default: those named in the folder.
    """
    settings = _read_settings(path)
    status = RunFolder(path).read_status()
    dataset, why = (data, "") if data is not None else _open_data(path, settings)
    history = read_history(path / "history.jsonl")
    last = history[-1] if history else {}
    sections = [_setup_section(settings)]
    if (path / "model.safetensors").is_file():
        text = (why,) if why else ()
        section = model_section("The model", path, dataset, paragraphs=text)
        gallery = Gallery()
        gallery.add("M-PHATE", lambda: trace_picture(path))
        sections.append(
            replace(
                section,
                paragraphs=(*section.paragraphs, *gallery.explanations),
                blocks=(*section.blocks, *gallery.pictures),
            )
        )
    scores = scores_table(_read_scores(path))
    during = run_score_blocks(score_curves(read_history(path / "scores.jsonl")))
    if scores is not None or during:
        blocks = (*(() if scores is None else (scores,)), *during)
        sections.append(Section(title="Scores", blocks=blocks))
    sections.append(_settings_section(settings, status))
    facts = [("steps", number(last.get("step", status.get("step", 0))))]
    if "total" in last:
        facts.append(("loss", number(last["total"], 2)))
    if "active_latents" in last:
        n_latents = len(last.get("kl_per_latent", ()))
        facts.append(("active latents", f"{last['active_latents']} of {n_latents}"))
    return Page(
        kind="Run",
        title=path.resolve().name,
        lead=_lead(settings, status),
        facts=tuple(facts),
        notices=_notices(path, status),
        sections=tuple(sections),
    )


def _read_settings(path: Path) -> dict[str, Any]:
    """Read the settings from the file of the study run, the run or the model."""
    for name, kind in (("run", "study run"), ("spec", "run"), ("model", "model")):
        try:
            record = read_json(path / f"{name}.json", kind=kind)
        except (OSError, CheckpointFormatError):
            continue
        settings = record.get("spec", record)
        if isinstance(settings, dict):
            return settings | {"about": record.get("data")}
    return {}


def _open_data(
    path: Path, settings: dict[str, Any]
) -> tuple[AbstractDataset | None, str]:
    dataset = find_training_data(path)
    if dataset is not None:
        return dataset, ""
    if "data" in settings:
        return open_data(str(settings["data"]))
    return None, (
        "The folder does not name the data, so figures that need them are missing. "
        f"Call write_report({str(path.name)!r}, data=...) to add them."
    )


def _objective(settings: dict[str, Any]) -> str:
    objective = settings.get("objective") or {}
    if not isinstance(objective, dict):
        return str(objective)
    return str(objective.get("name", "custom objective"))


def _lead(settings: dict[str, Any], status: dict[str, Any]) -> str:
    state = status.get("status", "")
    text = f"A model trained with {_objective(settings)}"
    if state == "finished" or not state:
        return f"{text}."
    step, steps = status.get("step", 0), status.get("steps", 0)
    return f"{text}: {state} at step {step:,} of {steps:,}."


def _notices(path: Path, status: dict[str, Any]) -> tuple[Notice, ...]:
    notices = []
    error = status.get("error", "")
    try:
        error = RunFiles(path).read_failure().get("error", "") or error
    except CheckpointFormatError as damaged:
        error = str(damaged)
    if error:
        notices.append(
            Notice(level="problem", title="The run failed.", items=(("", error),))
        )
    warnings = RunFolder(path).read_warnings()
    notices += [
        Notice(
            level="problem",
            title=warning.message,
            items=((warning.name, f"seen at step {warning.step:,}"),),
        )
        for warning in warnings
    ]
    if not (path / "model.safetensors").is_file() and not error:
        message = "The run is not finished: there is no model to show yet."
        notices.append(Notice(level="note", title=message))
    return tuple(notices)


def _setup_section(settings: dict[str, Any]) -> Section:
    training = settings.get("training", settings)
    training = training if isinstance(training, dict) else {}
    about = settings.get("about")
    # The source has the options of the data; the first versions have the name only.
    about = about if isinstance(about, dict) else {}
    name = about.get("source") or about.get("name")
    data = settings.get("data") or name or "unknown"
    rows = [("data", str(data)), ("objective", _objective(settings))]
    objective = settings.get("objective")
    if isinstance(objective, dict):
        options = {k: v for k, v in objective.items() if k != "name" and v is not None}
        rows += [
            (f"objective: {name}", _format(value)) for name, value in options.items()
        ]
    for name in ("steps", "batch_size", "n_latents", "learning_rate", "optimiser"):
        if training.get(name) is not None:
            rows.append((name.replace("_", " "), _format(training[name])))
    if settings.get("seed") is not None:
        rows.append(("seed", _format(settings["seed"])))
    table = Table(title="Settings", columns=("", ""), rows=tuple(rows))
    return Section(title="Setup", blocks=(table,))


def _read_scores(path: Path) -> dict[str, Any]:
    try:
        return RunFiles(path).read_scores().get("scores", {})
    except CheckpointFormatError:
        return {}


def _settings_section(settings: dict[str, Any], status: dict[str, Any]) -> Section:
    plain = {name: value for name, value in settings.items() if name != "about"}
    text = json.dumps(plain, indent=2, ensure_ascii=False)
    versions = status.get("versions", {})
    seen = Counter((str(name), str(value)) for name, value in versions.items())
    return Section(
        title="Settings and versions",
        blocks=(Preformatted(title="All settings", text=text), versions_table(seen)),
    )


def _format(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value if isinstance(value, str) else json.dumps(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
