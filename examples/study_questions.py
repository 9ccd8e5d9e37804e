"""Answer five questions about a study, with a figure and a few numbers each.

    python examples/study_questions.py study/table.csv figures/

The questions are those of Locatello et al. (2019), section 5.
"""

import sys
from pathlib import Path

import pandas as pd

from unbraid.reports import (
    draw_rank_correlation,
    draw_score_by_strength,
    draw_scores_by_method,
    draw_total_correlation,
    draw_variance_explained,
    score_by_strength,
)
from unbraid.studies.analysis import (
    downstream_agreement,
    metric_agreement,
    total_correlation_by_strength,
    transfer,
    unsupervised_agreement,
    variance_explained,
)

SHARES = ["score", "objective", "objective_and_strength", "seed"]
ADJUSTED = ["objective_adjusted", "objective_and_strength_adjusted"]


def main(table_file: str, folder: str) -> None:
    """Draw all figures and print all numbers."""
    table, out = pd.read_csv(table_file), Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    print(f"{len(table)} runs, {(table['status'] == 'done').sum()} done")
    independence = total_correlation_by_strength(table)
    metrics = metric_agreement(table).pooled
    variance = variance_explained(table)
    unsupervised = unsupervised_agreement(table).pooled
    downstream = downstream_agreement(table).pooled
    figures = {
        "1-total-correlation": draw_total_correlation(independence),
        "2-metrics": draw_rank_correlation(metrics, title="metrics, x 100"),
        "3-shares": draw_variance_explained(variance),
        "3-variance": draw_scores_by_method(variance),
        "3-mig-by-strength": draw_score_by_strength(
            score_by_strength(table, "score.mig"), score="mig"
        ),
        "4-unsupervised": draw_rank_correlation(unsupervised, title="without labels"),
        "5-downstream": draw_rank_correlation(downstream, title="downstream tasks"),
    }
    for name, figure in figures.items():
        figure.savefig(out / f"{name}.png", dpi=130)
    print("1. rank correlation of strength and total correlation")
    print(independence.trends.drop(columns="data").round(2).to_string(index=False))
    print("2. rank correlation of metrics")
    print(metrics.values.round(2).to_string())
    print("3. shares of the variance")
    print(variance.shares[SHARES + ADJUSTED].round(2).to_string(index=False))
    print("4. scores without labels")
    print(unsupervised.values.round(2).to_string())
    print(transfer(table).probabilities.round(3).to_string(index=False))
    print("5. downstream tasks")
    print(downstream.values.round(2).to_string())


if __name__ == "__main__":
    main(*sys.argv[1:3])
