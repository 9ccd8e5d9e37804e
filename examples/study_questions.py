"""Five questions to the table of a study, with a figure and a few numbers each.

    python examples/study_questions.py study/table.csv figures/

The questions are those of Locatello et al. (2019), section 5.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

from unbraid.studies.analysis import (
    RankCorrelation,
    downstream_agreement,
    metric_agreement,
    strengths,
    total_correlation_by_strength,
    transfer,
    unsupervised_agreement,
    variance_explained,
)

mpl.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402  (after the choice of the back end)


def draw_total_correlation(table: pd.DataFrame, path: Path) -> None:
    """Question 1: are the means of codes independent, or only their samples?"""
    found = total_correlation_by_strength(table)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True, layout="tight")
    for axis, codes in zip(axes, ("sampled_codes", "mean_codes"), strict=True):
        for method, levels in found.levels.groupby("method"):
            axis.errorbar(
                levels["strength_rank"],
                levels[codes],
                levels[f"{codes}_spread"],
                label=method,
                marker="o",
                capsize=2,
            )
        axis.set(title=codes.replace("_", " "), xlabel="strength, weakest first")
    axes[0].set_ylabel("total correlation (nats)")
    axes[1].legend(fontsize="small")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    print("1. rank correlation of strength and total correlation")
    print(found.trends.drop(columns="data").round(2).to_string(index=False))


def draw_correlations(found: RankCorrelation, title: str, path: Path) -> None:
    """Rank correlations as a table in colours."""
    values = found.values
    n_rows, n_columns = values.shape
    size = (2.2 + 0.62 * n_columns, 1.6 + 0.42 * n_rows)
    figure, axis = plt.subplots(figsize=size, layout="tight")
    axis.imshow(values, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    for row, column in np.ndindex(n_rows, n_columns):
        number = values.iat[row, column]
        if np.isfinite(number):
            shade = "white" if abs(number) > 0.6 else "black"
            axis.text(
                column,
                row,
                f"{100 * number:.0f}",
                ha="center",
                va="center",
                color=shade,
                fontsize="small",
            )
    axis.set_xticks(range(n_columns), values.columns, rotation=40, ha="right")
    axis.set_yticks(range(n_rows), values.index)
    axis.set_title(f"{title}, rank correlation x 100", fontsize="medium")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_variance(table: pd.DataFrame, path: Path) -> None:
    """Question 3: what decides a score, the method, its strength, or the seed?"""
    found = variance_explained(table)
    scores = list(dict.fromkeys(found.shares["score"]))
    n_columns = 4
    n_rows = -(-len(scores) // n_columns)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(11, 2.6 * n_rows), layout="tight", squeeze=False
    )
    for axis, score in zip(axes.flat, scores, strict=False):
        runs = found.runs[found.runs["score"] == score]
        groups = runs.groupby("method")["value"]
        axis.violinplot([values.to_numpy() for _, values in groups], showmedians=True)
        names = [name for name, _ in groups]
        axis.set_xticks(range(1, 1 + len(names)), names, rotation=40, ha="right")
        axis.set_title(score, fontsize="medium")
    for axis in axes.flat[len(scores) :]:
        axis.axis("off")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print("3. shares of the variance")
    columns = ["score", "objective", "objective_and_strength", "seed"]
    adjusted = ["objective_adjusted", "objective_and_strength_adjusted"]
    print(found.shares[columns + adjusted].round(2).to_string(index=False))


def draw_best(table: pd.DataFrame, score: str, path: Path) -> None:
    """Every run by method and strength: how much is luck."""
    runs = strengths(table)
    methods = list(dict.fromkeys(runs["method"]))
    figure, axes = plt.subplots(
        1, len(methods), figsize=(11, 2.8), sharey=True, layout="tight"
    )
    for axis, method in zip(np.atleast_1d(axes), methods, strict=True):
        part = runs[runs["method"] == method]
        axis.plot(part["strength_rank"], part[f"score.{score}"], "o", alpha=0.5)
        axis.set(title=method, xlabel="strength rank")
    np.atleast_1d(axes)[0].set_ylabel(score)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(table_file: str, folder: str) -> None:
    """Ask all questions."""
    table, out = pd.read_csv(table_file), Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    print(f"{len(table)} runs, {(table['status'] == 'done').sum()} done")
    draw_total_correlation(table, out / "1-total-correlation.png")
    metrics = metric_agreement(table).pooled
    draw_correlations(metrics, "metrics", out / "2-metrics.png")
    print("2. rank correlation of metrics")
    print(metrics.values.round(2).to_string())
    draw_variance(table, out / "3-variance.png")
    draw_best(table, "mig", out / "3-mig-by-strength.png")
    unsupervised = unsupervised_agreement(table).pooled
    draw_correlations(unsupervised, "scores without labels", out / "4-unsupervised.png")
    print("4. scores without labels")
    print(unsupervised.values.round(2).to_string())
    print(transfer(table).probabilities.round(3).to_string(index=False))
    downstream = downstream_agreement(table).pooled
    draw_correlations(downstream, "downstream tasks", out / "5-downstream.png")
    print("5. downstream tasks")
    print(downstream.values.round(2).to_string())


if __name__ == "__main__":
    main(*sys.argv[1:3])
