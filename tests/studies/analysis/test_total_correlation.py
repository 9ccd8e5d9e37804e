"""Total correlation of mean and of sampled codes, by strength."""

import math

import numpy as np
import pytest
from study_tables import study_table

from unbraid.studies.analysis import total_correlation_by_strength

MEAN = "score.gaussian_total_correlation"
SAMPLED = "score.sampled_gaussian_total_correlation"


def table(**options):
    return study_table(
        {
            MEAN: lambda data, method, rank, seed: 1.0 + rank + 0.1 * seed,
            SAMPLED: lambda data, method, rank, seed: 3.0 - rank + 0.1 * seed,
        },
        **options,
    )


def test_levels_are_means_and_spreads_over_seeds() -> None:
    levels = total_correlation_by_strength(table(datasets=["a", "b"])).levels
    assert len(levels) == 2 * 2 * 3
    row = levels.query("data == 'b' and method == 'factor_vae' and strength == 40")
    assert row["mean_codes"].item() == pytest.approx(2.15)
    assert row["sampled_codes"].item() == pytest.approx(2.15)
    spread = np.std([0.0, 0.1, 0.2, 0.3], ddof=1)
    assert row["mean_codes_spread"].item() == pytest.approx(spread)
    assert row["n_runs"].item() == 4


def test_trends_are_signed_rank_correlations_with_the_strength() -> None:
    trends = total_correlation_by_strength(table(n_seeds=1)).trends
    assert trends["mean_codes"].tolist() == pytest.approx([1.0, 1.0])
    assert trends["sampled_codes"].tolist() == pytest.approx([-1.0, -1.0])


def test_one_seed_has_no_spread_and_one_strength_no_trend() -> None:
    found = total_correlation_by_strength(table(n_seeds=1)[:1])
    assert math.isnan(found.levels["mean_codes_spread"].item())
    assert math.isnan(found.trends["mean_codes"].item())
    assert found.levels["mean_codes"].item() == 1.0


def test_missing_failed_and_infinite_numbers_stay_out_of_the_means() -> None:
    runs = table()
    runs.loc[0, "status"] = "failed"
    runs.loc[1, [MEAN, SAMPLED]] = np.nan
    runs.loc[2, MEAN] = np.inf
    found = total_correlation_by_strength(runs)
    assert found.n_left_out == 2
    level = found.levels.iloc[0]
    assert level["n_runs"] == 2
    assert level["mean_codes"] == pytest.approx(1.3)
    assert level["sampled_codes"] == pytest.approx(3.25)


def test_a_study_without_finished_runs_has_no_levels() -> None:
    found = total_correlation_by_strength(table().assign(status="waiting"))
    assert found.levels.empty
    assert found.trends.empty
    assert found.n_left_out == 24


def test_a_table_without_sampled_codes_is_refused() -> None:
    with pytest.raises(ValueError, match="'score.sampled_gaussian_total_correlation'"):
        total_correlation_by_strength(table().drop(columns=SAMPLED))
    with pytest.raises(ValueError, match="no column 'objective.name'"):
        total_correlation_by_strength(table().drop(columns="objective.name"))
