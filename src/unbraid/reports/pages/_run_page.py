"""The report of a single run, or of a model alone."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from unbraid.data import AbstractDataset
from unbraid.foundation import CheckpointFormatError, read_json
from unbraid.studies import RunFiles
from unbraid.training import RunFolder, read_history

from ._model_section import model_section
from ._page import Notice, Page, Section, Table, Words
from ._scores_table import number, scores_table
from ._settings_section import versions_of
from ._study_page import open_data


def run_page(path: Path, data: AbstractDataset | None = None) -> Page:
    """Everything about a run that its folder tells.

    Args:
        path: Its folder.
        data: What it was trained on; when not given, from what the folder says.
    """
    settings = _settings(path)
    status = RunFolder(path).read_status()
    dataset, why = (data, "") if data is not None else _data(path, settings)
    history = read_history(path / "history.jsonl")
    last = history[-1] if history else {}
    sections = [_asked(settings)]
    if (path / "model.safetensors").is_file():
        words = (why,) if why else ()
        sections.append(model_section("The model", path, dataset, words=words))
    scores = scores_table(_scores(path))
    if scores is not None:
        sections.append(Section(title="Scores", blocks=(scores,)))
    sections.append(_end(settings, status))
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


def _settings(path: Path) -> dict[str, Any]:
    """As the study, the run or the model says them, the first that can be read."""
    for name, kind in (("run", "study run"), ("spec", "run"), ("model", "model")):
        try:
            words = read_json(path / f"{name}.json", kind=kind)
        except (OSError, CheckpointFormatError):
            continue
        settings = words.get("spec", words)
        if isinstance(settings, dict):
            return settings | {"about": words.get("data")}
    return {}


def _data(path: Path, settings: dict[str, Any]) -> tuple[AbstractDataset | None, str]:
    if "data" in settings:
        return open_data(str(settings["data"]))
    about = settings.get("about")
    # A run keeps the name of its data without their options: they may be others.
    if isinstance(about, dict):
        dataset, _ = open_data(str(about.get("name")))
        if dataset is not None and dataset.fingerprint() == about.get("fingerprint"):
            return dataset, ""
    return None, (
        "The folder does not say where the data are, so that pictures which need them "
        f"are left out. write_report({str(path.name)!r}, data=...) adds them."
    )


def _objective(settings: dict[str, Any]) -> str:
    objective = settings.get("objective") or {}
    if not isinstance(objective, dict):
        return str(objective)
    return str(objective.get("name", "own objective"))


def _lead(settings: dict[str, Any], status: dict[str, Any]) -> str:
    state = status.get("status", "")
    words = f"A model trained with {_objective(settings)}"
    if state == "finished" or not state:
        return f"{words}."
    step, steps = status.get("step", 0), status.get("steps", 0)
    return f"{words}: {state} at step {step:,} of {steps:,}."


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
        words = "The run is not finished: there is no model to show yet."
        notices.append(Notice(level="note", title=words))
    return tuple(notices)


def _asked(settings: dict[str, Any]) -> Section:
    training = settings.get("training", settings)
    training = training if isinstance(training, dict) else {}
    about = settings.get("about")
    name = about.get("name") if isinstance(about, dict) else None
    data = settings.get("data") or name or "not known"
    rows = [("data", str(data)), ("objective", _objective(settings))]
    objective = settings.get("objective")
    if isinstance(objective, dict):
        options = {k: v for k, v in objective.items() if k != "name" and v is not None}
        rows += [
            (f"objective: {name}", _plain(value)) for name, value in options.items()
        ]
    for name in ("steps", "batch_size", "n_latents", "learning_rate", "optimiser"):
        if training.get(name) is not None:
            rows.append((name.replace("_", " "), _plain(training[name])))
    if settings.get("seed") is not None:
        rows.append(("seed", _plain(settings["seed"])))
    table = Table(title="Settings", columns=("", ""), rows=tuple(rows))
    return Section(title="What was asked", blocks=(table,))


def _scores(path: Path) -> dict[str, Any]:
    try:
        return RunFiles(path).read_scores().get("scores", {})
    except CheckpointFormatError:
        return {}


def _end(settings: dict[str, Any], status: dict[str, Any]) -> Section:
    plain = {name: value for name, value in settings.items() if name != "about"}
    text = json.dumps(plain, indent=2, ensure_ascii=False)
    versions = status.get("versions", {})
    seen = Counter((str(name), str(value)) for name, value in versions.items())
    return Section(
        title="Settings and versions",
        blocks=(Words(title="All settings", text=text), versions_of(seen)),
    )


def _plain(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value if isinstance(value, str) else json.dumps(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
