"""Is the demo convincing? ``unbraid demo`` over several seeds.

For each seed: the time, MIG and DCI disentanglement of the chosen model, and the share
of the models of the last round that score lower. Labels are used only here.

    python benchmarks/demo.py OUT [--seeds 0 1 2 3 4]

Every demo is left in OUT with its report. A demo that is there is scored again, not
repeated.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import unbraid
from unbraid.studies import StudyFolder

SCORES = ("mig", "dci_disentanglement")


def run_demo(out: Path, seed: int) -> float:
    """Run the demo, and return its duration in seconds."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "unbraid", "demo", "--out", str(out)]
    with (out.parent / f"{out.name}.log").open("a") as log:
        subprocess.run([*command, "--seed", str(seed)], check=True, stdout=log)
    return time.monotonic() - begun


def score_demo(out: Path) -> tuple[str, dict[str, dict[str, float]]]:
    """Return the name of the chosen model, and the scores of the last round's."""
    described = json.loads((out / "found" / "discovery.json").read_text())
    cells = {cell.id: cell for cell in StudyFolder(out / "found" / "study").cells}
    scores = {}
    for model in described["evidence"]["models"]:
        cell = cells[model["run"]]
        card = unbraid.evaluate(
            unbraid.load(cell.files.path),
            cell.spec.data.open(),
            metrics=["mig", "dci"],
            rows=5_000,
            intervals=False,
            levels=False,
            progress=False,
        )
        scores[model["name"]] = {name: float(card[name]) for name in SCORES}
    return described["ranking"]["chosen"], scores


def summarize(
    seed: int, seconds: float, chosen: str, scores: dict[str, dict[str, float]]
) -> str:
    """Format the result of one demo as a row of a Markdown table."""
    cells = [f"{seed}", f"{seconds:.0f} s", chosen]
    for name in SCORES:
        all_models = np.array([model[name] for model in scores.values()])
        own = scores[chosen][name]
        others_below = np.sum(all_models < own) / max(len(all_models) - 1, 1)
        cells.append(
            f"{own:.2f} (median {np.median(all_models):.2f}, best "
            f"{all_models.max():.2f}, above {others_below:.0%} of the others)"
        )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="folder for all demos")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(5)))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print("| seed | time | chosen | MIG | DCI disentanglement |\n|---|---|---|---|---|")
    for seed in options.seeds:
        out = options.out / f"{seed}"
        timing = options.out / f"{seed}.json"
        if not timing.is_file():
            timing.write_text(json.dumps({"seconds": run_demo(out, seed)}))
        seconds = json.loads(timing.read_text())["seconds"]
        print(summarize(seed, seconds, *score_demo(out)), flush=True)


if __name__ == "__main__":
    main()
