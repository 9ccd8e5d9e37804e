"""What do populations gain? Tables from finished studies of the estermann-2020 presets.

For every setting: mean, deviation and each seed's value of MIG and DCI disentanglement.
Of unsupervised and recursive populations also what the first one learned: the gap of
every factor, beside how far apart images look that differ in it.

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
    """A run without its seed, in words."""
    evolution = spec.evolution
    if evolution is None:
        numbers = [
            f"{name} {value}"
            for name, value in spec.objective.items()
            if name in ("kind", "beta", "gamma", "lambda_off_diagonal", "capacity")
        ]
        return " ".join([spec.objective["name"], *numbers])
    words = [f"{evolution.method} population"]
    if evolution.method == "supervised":
        words.append(f"by {evolution.metric}")
        words.append(f"on {evolution.labels or 'all'} labels")
        if evolution.population.generations == 1:
            words[0] = "best of models trained apart"
    if evolution.method == "recursive":
        words.append(f"with {evolution.recursion.leaf_runs} leaf runs")
    return " ".join(words)


def row(name, values):
    """Mean, deviation and every value."""
    values = np.array(values)
    spread = values.std(ddof=1) if len(values) > 1 else float("nan")
    each = " ".join(f"{value:.3f}" for value in values)
    return f"| {name} | {values.mean():.3f} | {spread:.3f} | {each} |"


def compare(folder):
    """Scores of every setting, over its seeds."""
    found = {}
    for cell in folder.cells:
        if cell.files.state == "done":
            scores = cell.files.read_scores()["scores"]
            found.setdefault(setting(cell.spec), []).append((cell.spec.seed, scores))
    for key in SCORES:
        print(f"| {key} | mean | deviation | seeds |\n|---|---|---|---|")
        for name, runs in found.items():
            ordered = sorted(runs, key=lambda run: run[0])
            print(row(name, [scores[key]["value"] for _, scores in ordered]))
        print()


def learned_first(folder):
    """The gap of every factor in the winner of every first population."""
    cells = [cell for cell in folder.cells if cell.files.state == "done"]
    methods = ("unsupervised", "recursive")
    bred = [c for c in cells if c.spec.evolution and c.spec.evolution.method in methods]
    if not bred:
        return
    data = open_dataset(bred[0].spec.data)
    roots = {}
    for cell in bred:
        about = cell.files.read_scores()["evolution"]
        stages = about["stages"]
        name = stages[0]["population"] if stages else about["population"]
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
    parser.add_argument("folders", nargs="+", type=Path, help="of finished studies")
    for path in parser.parse_args().folders:
        folder = StudyFolder(path)
        print(f"## {folder.study.name}\n")
        compare(folder)
        learned_first(folder)


if __name__ == "__main__":
    main()
