"""Compare label-free with supervised scores. Two tables from a study with traces.

Table 1: Spearman correlation, over configurations, of the stability of training and of
UDR with supervised scores, for 5 and for all seeds of each configuration.
Table 3: Pearson correlation, over models, of each score with itself under label noise.
Label-free scores are computed again to show that they do not depend on labels.

    unbraid study run docs/studies/holtz-2022.yaml --out study
    python examples/choosing_tables.py study choosing.json
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, spearmanr
from tqdm import tqdm

from unbraid import encode, evaluate, load
from unbraid.data import add_label_noise, open_dataset
from unbraid.foundation import numpy_generator
from unbraid.selection import training_dynamics, unsupervised_disentanglement_ranking
from unbraid.studies import StudyFolder
from unbraid.training import Trace

METRICS = ("beta_vae_score", "factor_vae_score", "mig")
ROWS_COMPARED = 1_000


def configuration(spec):
    """Return a description of a run, without its seed."""
    return f"beta={spec.objective['beta']:g}, {spec.training.n_latents} latents"


def read_models(folder):
    """Return configuration, scores, trace and codes of every finished run."""
    cells = [cell for cell in folder.cells if cell.files.state == "done"]
    data = open_dataset(cells[0].spec.data)
    rows = numpy_generator(0, "compared rows").permutation(len(data))[:ROWS_COMPARED]
    models = []
    for cell in tqdm(cells, desc="codes"):
        record = cell.files.read_scores()
        scores = {name: record["scores"][name]["value"] for name in METRICS}
        model = load(cell.files.path)
        models.append(
            {
                "configuration": configuration(cell.spec),
                "seed": cell.spec.seed,
                "active": record["fit"]["active_latents"],
                "trace": Trace.load(cell.files.path),
                "codes": encode(model, data, rows=np.sort(rows), progress=False),
                "model": model,
                **scores,
            }
        )
    return models, data


def by_configuration(models):
    """Group models by configuration, in order of their seeds."""
    groups = {}
    for model in models:
        groups.setdefault(model["configuration"], []).append(model)
    return groups


def label_free(group):
    """Return stability (higher is more stable) and UDR of several seeds."""
    scores = {"dynamics": -training_dynamics([model["trace"] for model in group]).score}
    for similarity in ("lasso", "spearman"):
        udr = unsupervised_disentanglement_ranking(
            [model["codes"] for model in group], similarity=similarity
        )
        scores[f"udr_{similarity}"] = float(udr.scores.mean())
    return scores


def correlations(groups, *, only_active):
    """Return the Spearman correlation of label-free with supervised scores."""
    if only_active:
        active = {
            name: [model for model in group if model["active"]]
            for name, group in groups.items()
        }
        groups = {name: group for name, group in active.items() if len(group) > 1}
    free = [label_free(group) for group in groups.values()]
    found = {"n_specifications": len(groups)}
    for name in free[0]:
        for metric in METRICS:
            means = [
                np.mean([model[metric] for model in group]) for group in groups.values()
            ]
            label_free_values = [scores[name] for scores in free]
            found[f"{name} / {metric}"] = float(
                spearmanr(label_free_values, means).statistic
            )
    return found


def table_1(models, n_subsets):
    """Return Table 1, for subsets of 5 seeds and for all seeds."""
    groups = by_configuration(models)
    n_all = max(map(len, groups.values()))
    table = {}
    for n_seeds in dict.fromkeys((min(5, n_all), n_all)):
        generator = numpy_generator(0, "realisations")
        repeats = 1 if n_seeds == n_all else n_subsets
        for only_active in (False, True):
            drawn = []
            for _ in tqdm(range(repeats), desc=f"{n_seeds} seeds"):
                seeds = generator.permutation(n_all)[:n_seeds]
                some = {
                    name: [group[seed] for seed in seeds if seed < len(group)]
                    for name, group in groups.items()
                }
                drawn.append(correlations(some, only_active=only_active))
            names = f"n = {n_seeds}{', alive' if only_active else ''}"
            table[names] = {
                key: [
                    round(float(np.mean([one[key] for one in drawn])), 3),
                    round(float(np.std([one[key] for one in drawn])), 3),
                ]
                for key in drawn[0]
            }
    return table


def table_3(models, data, n_seeds):
    """Return Table 3, the correlation of scores with and without label noise."""
    some = [model for model in models if model["seed"] < n_seeds]
    true = {metric: [model[metric] for model in some] for metric in METRICS}
    clean = label_free(some)
    table = {}
    for level in (1, 2, 3):
        noisy = add_label_noise(data, level)
        rows = some[0]["codes"].rows
        scores = {metric: [] for metric in METRICS}
        for model in tqdm(some, desc=f"noise {level}"):
            codes = encode(model["model"], noisy, progress=False)
            card = evaluate(
                codes, metrics=METRICS, intervals=False, levels=False, progress=False
            )
            for metric in METRICS:
                scores[metric].append(float(card[metric]))
        table[f"noise {level}"] = {
            metric: round(float(pearsonr(true[metric], scores[metric]).statistic), 3)
            for metric in METRICS
        }
        again = [
            {**model, "codes": encode(model["model"], noisy, rows=rows, progress=False)}
            for model in some
        ]
        table[f"noise {level}"]["label-free unchanged"] = label_free(again) == clean
    return {"n_models": len(some), **table}


def main():
    """Compute both tables and write them to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("study", help="folder of the study")
    parser.add_argument("out", help="JSON file to write")
    parser.add_argument(
        "--subsets",
        type=int,
        default=10,
        help="number of subsets of 5 seeds in Table 1",
    )
    parser.add_argument(
        "--noisy-seeds", type=int, default=2, help="number of seeds in Table 3"
    )
    options = parser.parse_args()
    models, data = read_models(StudyFolder(options.study))
    groups = by_configuration(models)
    found = {
        "specifications": {
            name: {
                "n_models": len(group),
                "active": round(float(np.mean([m["active"] for m in group])), 2),
                **{k: round(v, 5) for k, v in label_free(group).items()},
                **{k: round(float(np.mean([m[k] for m in group])), 4) for k in METRICS},
            }
            for name, group in groups.items()
        }
    }
    out = Path(options.out)
    out.write_text(json.dumps(found, indent=1))
    found["table 1"] = table_1(models, options.subsets)
    out.write_text(json.dumps(found, indent=1))
    found["table 3"] = table_3(models, data, options.noisy_seeds)
    out.write_text(json.dumps(found, indent=1))
    print(json.dumps({key: found[key] for key in ("table 1", "table 3")}, indent=1))


if __name__ == "__main__":
    main()
