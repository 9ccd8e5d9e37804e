"""Label-free scores and qualities of the models of ``choice_population.py``.

    python benchmarks/choice_evidence.py RUNS [--out benchmarks/results/choice]

For each set of models, one ``.npz`` file with everything that the comparison in
``choice.py`` needs, small enough to keep: scores of single models, and for scores that
compare models the matrix of all pairs, so that the score of any part of the models can
be computed later. Labels are used only for the qualities.
"""

import argparse
import json
import os
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from choice_population import GOOD_SETS, N_NULL
from discovery import METRICS, score_codes
from discovery_sets import make_set
from numpy.typing import NDArray

import unbraid
from unbraid.data import open_dataset
from unbraid.execution import count_cores
from unbraid.selection import (
    ScoredRun,
    compare_training,
    dynamics_pairs,
    label_free_scores,
    model_centrality,
    rotated_pairs,
    unsupervised_disentanglement_ranking,
)
from unbraid.studies import RunRecord, StudyFolder, read_records
from unbraid.training import Trace

N_ROWS, N_ROTATIONS = 2_000, 100
SINGLE = ("pipe", "self_mig", "jacobian_contrast", "total_correlation")
"""Scores of single models that are computed here; others come with the runs."""


def collect(folder: Path, out: Path, set_name: str | None) -> None:
    """Collect the evidence on a study, and the qualities if the set has factors."""
    if out.is_file():
        return
    runs = [run for run in read_records(StudyFolder(folder)) if run.state == "done"]
    configurations = [_configuration(run) for run in runs]
    saved = [unbraid.load(run.cell.files.path) for run in runs]
    dataset = open_dataset(runs[0].cell.spec.data)
    generator = np.random.default_rng(0)
    rows = np.sort(generator.choice(len(dataset), N_ROWS, replace=False))
    codes = [
        unbraid.encode(model, dataset, rows=rows, progress=False) for model in saved
    ]
    lasso = unsupervised_disentanglement_ranking(codes)
    ranks = unsupervised_disentanglement_ranking(codes, similarity="spearman")
    is_alive = ranks.n_active > 0
    compared = compare_training(
        configurations,
        lambda k: Trace.load(runs[k].cell.files.path),
        is_active=is_alive,
    )
    table: dict[str, Any] = {
        "configurations": np.array(configurations),
        "udr_lasso": lasso.pairs,
        "udr_spearman": ranks.pairs,
        "rotated": rotated_pairs(
            codes,
            configurations,
            similarity="spearman",
            n_rotations=N_ROTATIONS,
            seed=0,
        ).astype(np.float16),
        "dynamics": _whole(configurations, dynamics_pairs(configurations, compared)),
        "elbo": np.array([run.scores["fit"]["elbo"] for run in runs]),
        "active_latents": ranks.n_active,
    }
    if set_name is not None:
        models: list[Any] = list(saved)
        scored = [
            ScoredRun(
                name=str(k),
                configuration=configurations[k],
                codes=codes[k],
                model=models[k],
            )
            for k in range(len(runs))
        ]
        table |= label_free_scores(scored, SINGLE)
        table["model_centrality"] = model_centrality(models, codes).pairs
        made = make_set(set_name)
        qualities = [
            score_codes(each, made, dataset)
            for each, run in zip(saved, runs, strict=True)
        ]
        for name in METRICS:
            table[name] = np.array([quality[name] for quality in qualities])
    out.parent.mkdir(parents=True, exist_ok=True)
    small = {
        name: value.astype(np.float32) if value.dtype == np.float64 else value
        for name, value in table.items()
    }
    part = out.with_suffix(".part.npz")
    np.savez_compressed(part, **small)
    part.replace(out)
    print(out.stem, len(runs), flush=True)


def _configuration(run: RunRecord) -> str:
    objective = run.cell.spec.objective
    return f"{objective['name']} {objective['beta']:g}"


def _whole(
    configurations: list[str], parts: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """One matrix of all models from those of the configurations; NaN elsewhere."""
    names = np.array(configurations)
    whole = np.full((len(names), len(names)), np.nan)
    for name, pairs in parts.items():
        own = np.flatnonzero(names == name)
        whole[np.ix_(own, own)] = pairs
    return whole


def _collect_task(task: tuple[Path, Path, str | None]) -> None:
    torch.set_num_threads(1)
    collect(*task)


def main() -> None:
    """Collect what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", type=Path, help="folder of choice_population.py")
    here = Path(__file__).parent
    parser.add_argument("--out", type=Path, default=here / "results" / "choice")
    options = parser.parse_args()
    tasks = [
        (options.runs / "good" / name, options.out / f"{name}.npz", name)
        for name in GOOD_SETS
    ]
    tasks += [
        (options.runs / "null" / str(k), options.out / "null" / f"{k}.npz", None)
        for k in range(N_NULL)
    ]
    done = [task for task in tasks if (task[0] / "table.csv").is_file()]
    with get_context("spawn").Pool(count_cores()) as pool:
        for _ in pool.imap_unordered(_collect_task, done):
            pass
    print(json.dumps({"collected": len(done), "missing": len(tasks) - len(done)}))


if __name__ == "__main__":
    main()
