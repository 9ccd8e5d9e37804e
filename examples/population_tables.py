"""Print tables of finished studies with the estermann-2020 presets.

For every setting: mean, standard deviation and values of MIG and DCI disentanglement
over seeds. For unsupervised and recursive populations also what the first population
learned: the MIG of every factor, and the perceived distance along it.

    unbraid study preset estermann-2020-fig6 > fig6.yaml
    unbraid study run fig6.yaml --out fig6
    python examples/population_tables.py fig6
"""

import argparse
from pathlib import Path

import numpy as np

from unbraid import encode, evaluate
from unbraid.data import open_dataset
from unbraid.perception import perceived_distances
from unbraid.studies import StudyFolder
from unbraid.training import load

SCORES = ("mig", "dci_disentanglement")


def setting(spec):
    """Return a description of a run, without its seed."""
    evolution = spec.evolution
    if evolution is None:
        numbers = [
            f"{name} {value}"
            for name, value in spec.objective.items()
            if name in ("kind", "beta", "gamma", "lambda_off_diagonal", "capacity")
        ]
        return " ".join([spec.objective["name"], *numbers])
    parts = [f"{evolution.method} population"]
    if evolution.method == "supervised":
        parts.append(f"by {evolution.metric}")
        parts.append(f"on {evolution.labels or 'all'} labels")
        if evolution.population.generations == 1:
            parts[0] = "best of models trained apart"
    if evolution.method == "recursive":
        parts.append(f"with {evolution.recursion.leaf_runs} leaf runs")
    return " ".join(parts)


def row(name, values):
    """Return a table row with mean, standard deviation and every value."""
    values = np.array(values)
    spread = values.std(ddof=1) if len(values) > 1 else float("nan")
    each = " ".join(f"{value:.3f}" for value in values)
    return f"| {name} | {values.mean():.3f} | {spread:.3f} | {each} |"


def compare(folder):
    """Print the scores of every setting, over its seeds."""
    runs_by_setting = {}
    for cell in folder.cells:
        if cell.files.state == "done":
            scores = cell.files.read_scores()["scores"]
            runs = runs_by_setting.setdefault(setting(cell.spec), [])
            runs.append((cell.spec.seed, scores))
    for key in SCORES:
        print(f"| {key} | mean | deviation | seeds |\n|---|---|---|---|")
        for name, runs in runs_by_setting.items():
            ordered = sorted(runs, key=lambda run: run[0])
            print(row(name, [scores[key]["value"] for _, scores in ordered]))
        print()


def learned_first(folder):
    """Print the MIG of every factor for the winner of every first population."""
    cells = [cell for cell in folder.cells if cell.files.state == "done"]
    methods = ("unsupervised", "recursive")
    evolved = [
        c for c in cells if c.spec.evolution and c.spec.evolution.method in methods
    ]
    if not evolved:
        return
    data = open_dataset(evolved[0].spec.data)
    roots = {}
    for cell in evolved:
        record = cell.files.read_scores()["evolution"]
        stages = record["stages"]
        name = stages[0]["population"] if stages else record["population"]
        roots[cell.spec.seed] = folder.path / "populations" / name
    distances = perceived_distances(data, n_pairs=2_000)
    print("| first population | mig | " + " | ".join(data.factor_names) + " |")
    print("|---" * (2 + len(data.factor_names)) + "|")
    means = [f"{distances[name].mean:.4f}" for name in data.factor_names]
    print(f"| perceived distance | | {' | '.join(means)} |")
    for seed, path in sorted(roots.items()):
        codes = encode(load(path / "winner"), data, progress=False)
        mig = evaluate(codes, metrics=["mig"], intervals=False, progress=False)["mig"]
        gaps = " | ".join(f"{gap:.2f}" for gap in mig.per_factor.values())
        print(f"| seed {seed} | {mig:.3f} | {gaps} |")
    print()


def main():
    """Print the tables of every folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folders", nargs="+", type=Path, help="folders of finished studies"
    )
    for path in parser.parse_args().folders:
        folder = StudyFolder(path)
        print(f"## {folder.study.name}\n")
        compare(folder)
        learned_first(folder)


if __name__ == "__main__":
    main()
