"""Does ``discover`` find more than one long training run does?

For each set of ``discovery_sets.py`` and each budget: the model that ``discover``
chose, and one long run of the best fixed recipe that a user could write without tuning,
``fit(BetaTCVAE(beta=Decay(8 to 2)), recipe="small")``: the same network, learning rate
and relaxation as in ``discover``, and one strength for all data. The long run gets the
processor time of the whole budget on all cores. Labels are used
only here, to score. All models that ``discover`` compared in the end are scored too, so
that the choice can be set against the best of them, the mean (a model drawn at random)
and the median.

    python benchmarks/discovery.py OUT [--budget 3m 10m] [--sets blobs discs ...]

Results are written to OUT as they come, two files for each set and budget; what is
there is not run again. The last lines are the table of all complete results in OUT.
``--only single`` and ``--only discover`` run one side.
"""

import argparse
import json
import os
import resource
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from discovery_sets import HELD_OUT, REFUSED, SETS, ImageSet, make_set, write_set

import unbraid
from unbraid.data import AbstractDataset, open_dataset
from unbraid.execution import count_cores
from unbraid.foundation import parse_duration
from unbraid.metrics import Factors
from unbraid.models import Decay
from unbraid.models.objectives import BetaTCVAE
from unbraid.studies import StudyFolder
from unbraid.training import keep_freed_memory, measure_training, specify

METRICS = {
    "mig": "mig",
    "dci": "dci_disentanglement",
    "infom": "infom",
    "infoc": "infoc",
    "infoe": "infoe",
}
OBJECTIVE = BetaTCVAE(beta=Decay(value=8.0, end=2.0, share=0.3, until=0.7))
"""One strength for all data, relaxed like those of ``discover`` (docs/recipes.md)."""

_ROWS = 5_000
_SECONDS_BETWEEN_SAVES = 60.0


def measure_discovery(name: str, budget: str, folder: Path) -> dict[str, Any]:
    """Let ``discover`` choose a model, and score it and those that it lost to."""
    made, text = make_set(name), write_set(name, folder.parent.parent / "sets")
    begun, used = time.monotonic(), _processor_seconds()
    found = unbraid.discover(text, folder / "found", budget=budget)
    row: dict[str, Any] = {
        "set": name,
        "budget": budget,
        "seconds": round(time.monotonic() - begun, 1),
        "processor_seconds": round(_processor_seconds() - used, 1),
        "chosen": found.ranking.chosen,
        "reason": found.ranking.reason,
    }
    if not made.factors.empty:
        row["models"] = _score_models(found, made)
    return row


def measure_single(task: tuple[str, str, Path]) -> None:
    """Train and score one long run, and write the result."""
    name, budget, folder = task
    made, text = make_set(name), write_set(name, folder.parent.parent / "sets")
    seconds = parse_duration(budget) * count_cores()
    model, steps = _train_long(text, seconds, folder / "single")
    scores = score_codes(model, made, open_dataset(text))
    row = {"single": scores, "single_steps": steps}
    _write(folder / "single.json", row)


def _write(path: Path, row: dict[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(row, indent=1) + "\n")
    part.replace(path)


def _score_models(found: Any, made: ImageSet) -> dict[str, Any]:
    """Score every model that was compared in the end, by name."""
    cells = {cell.id: cell for cell in StudyFolder(found.folder / "study").cells}
    described = json.loads((found.folder / "discovery.json").read_text())
    scores = {}
    for model in described["evidence"]["models"]:
        cell = cells[model["run"]]
        # The data of the run: images may have been made smaller.
        trained = unbraid.load(cell.files.path)
        scores[model["name"]] = score_codes(trained, made, cell.spec.data.open())
    return scores


def score_codes(model: Any, made: ImageSet, data: AbstractDataset) -> dict[str, float]:
    """Score the codes of a model by the factors of a set."""
    rows = np.sort(np.random.default_rng(0).choice(len(made.images), _ROWS, False))
    codes = unbraid.encode(model, data, rows=rows, progress=False)
    factors = Factors(
        made.factors.to_numpy()[rows],
        names=list(made.factors),
        kinds=[made.kinds[name] for name in made.factors],
    )
    card = unbraid.evaluate(
        codes.codes,
        factors,
        metrics=["mig", "dci", "infom", "infoc", "infoe"],
        intervals=False,
        levels=False,
        progress=False,
    )
    return {name: float(card[score]) for name, score in METRICS.items()}


def _train_long(text: str, seconds: float, out: Path) -> tuple[Any, int]:
    """Train one run of the fixed recipe that takes this processor time."""
    torch.set_num_threads(1)
    keep_freed_memory()
    data = open_dataset(text)
    timed = specify(OBJECTIVE, data, steps=1_000, recipe="small")
    steps = max(1_000, int(seconds / measure_training(timed, data).per_step))
    run = unbraid.fit(
        OBJECTIVE,
        data,
        recipe="small",
        steps=steps,
        out=out / f"{steps}",
        save_every_seconds=_SECONDS_BETWEEN_SAVES,
        device="cpu",
        progress=False,
    )
    return run.model, steps


def _processor_seconds() -> float:
    own, others = (
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return sum(part.ru_utime + part.ru_stime for part in (own, others))


def summarize(rows: list[dict[str, Any]]) -> str:
    """Format results as a Markdown table, with means over sets that have factors."""
    lines = [
        "| set | budget | chosen MIG / DCI | single MIG / DCI | best | random | regret "
        "| above |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(_line(row))
    for budget in dict.fromkeys(row["budget"] for row in rows):
        for label, is_in in (
            ("mean, tuned on", lambda name: name not in HELD_OUT),
            ("mean, held out", lambda name: name in HELD_OUT),
        ):
            some = [
                row
                for row in rows
                if row["budget"] == budget
                and row["set"] not in REFUSED
                and is_in(row["set"])
            ]
            if some:
                lines.append(_mean_line(label, budget, some))
    return "\n".join(lines)


def _line(row: dict[str, Any]) -> str:
    name = row["set"] + (" (held out)" if row["set"] in HELD_OUT else "")
    if row["set"] in REFUSED:
        word = "chose a model" if row["chosen"] else "refused, as it should"
        return f"| {name} | {row['budget']} | {word} | | | | | |"
    chosen, single = chosen_scores(row), row["single"]
    scores = np.array([model["dci"] for model in row["models"].values()])
    above = np.mean(scores < chosen["dci"]) if row["chosen"] else 0.0
    return (
        f"| {name} | {row['budget']} | {chosen['mig']:.2f} / {chosen['dci']:.2f} "
        f"| {single['mig']:.2f} / {single['dci']:.2f} | {scores.max():.2f} "
        f"| {scores.mean():.2f} | {scores.max() - chosen['dci']:.2f} | {above:.0%} |"
    )


def _mean_line(label: str, budget: str, rows: list[dict[str, Any]]) -> str:
    def mean(get: Any) -> float:
        return float(np.mean([get(row) for row in rows]))

    best = mean(lambda row: max(m["dci"] for m in row["models"].values()))
    chosen = mean(lambda row: chosen_scores(row)["dci"])
    return (
        f"| **{label}** | {budget} | {mean(lambda r: chosen_scores(r)['mig']):.2f} / "
        f"{chosen:.2f} | {mean(lambda r: r['single']['mig']):.2f} / "
        f"{mean(lambda r: r['single']['dci']):.2f} | {best:.2f} | "
        f"{mean(lambda r: np.mean([m['dci'] for m in r['models'].values()])):.2f} | "
        f"{best - chosen:.2f} | |"
    )


def chosen_scores(row: dict[str, Any]) -> dict[str, float]:
    """Scores of the chosen model, or zeros for a refusal."""
    if row["chosen"] is None:
        return dict.fromkeys(METRICS, 0.0)
    return row["models"][row["chosen"]]


def read_results(out: Path) -> list[dict[str, Any]]:
    """Return the complete results of a folder: both sides, where both are wanted."""
    rows = []
    for path in sorted(out.glob("*/*/discovery.json")):
        row, single = json.loads(path.read_text()), path.with_name("single.json")
        if single.is_file():
            row |= json.loads(single.read_text())
        if row["set"] in REFUSED or "single" in row:
            rows.append(row)
    return rows


def main() -> None:
    """Measure what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="folder for all results")
    parser.add_argument("--budget", nargs="+", default=["3m", "10m"])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--only", choices=["discover", "single"])
    options = parser.parse_args()
    tasks = [
        (name, budget, options.out / budget / name)
        for budget in options.budget
        for name in options.sets
    ]
    for name, budget, folder in tasks if options.only != "single" else ():
        result = folder / "discovery.json"
        if not result.is_file():
            _write(result, measure_discovery(name, budget, folder))
            print(f"{name} {budget}: done", flush=True)
    singles = [
        task
        for task in tasks
        if task[0] not in REFUSED and not (task[2] / "single.json").is_file()
    ]
    if singles and options.only != "discover":
        # One process per core: a small model does not train faster on two.
        with get_context("spawn").Pool(count_cores()) as pool:
            for _ in pool.imap_unordered(measure_single, singles):
                pass
    print(summarize(read_results(options.out)))


if __name__ == "__main__":
    main()
