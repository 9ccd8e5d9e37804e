"""Rank correlations between metrics, unsupervised and downstream scores."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from study_tables import study_table

from unbraid.foundation import numpy_generator
from unbraid.metrics import METRICS
from unbraid.studies.analysis import (
    DISENTANGLEMENT_METRICS,
    DOWNSTREAM_SCORES,
    PUBLISHED_METRICS,
    UNSUPERVISED_SCORES,
    downstream_agreement,
    metric_agreement,
    unsupervised_agreement,
)


def random_table(n: int = 40, **more: object) -> pd.DataFrame:
    """Three metrics with ties, unrelated to each other."""
    draw = numpy_generator(0, "agreement").integers
    scores = {f"score.{name}": draw(0, 8, n) / 8 for name in ("mig", "sap", "irs")}
    return pd.DataFrame({"data": "a", **scores, **more})


def test_coefficients_are_those_of_scipy_with_ties() -> None:
    table = random_table()
    found = metric_agreement(table).by_dataset["a"]
    columns = [f"score.{name}" for name in found.values.columns]
    expected = spearmanr(table[columns].to_numpy()).statistic
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    assert (found.n_runs == 40).all(axis=None)
    assert not found.reasons


def test_order_alone_counts() -> None:
    table = random_table()
    table["score.modularity"] = np.exp(table["score.mig"])
    table["score.explicitness"] = -(table["score.mig"] ** 3)
    values = metric_agreement(table).pooled.values
    assert values.loc["mig", "modularity"] == pytest.approx(1.0)
    assert values.loc["mig", "explicitness"] == pytest.approx(-1.0)


def test_pooling_is_the_same_as_one_dataset_if_there_is_one() -> None:
    found = metric_agreement(random_table())
    pd.testing.assert_frame_equal(found.pooled.values, found.by_dataset["a"].values)


def test_pooling_ignores_that_a_dataset_is_easier() -> None:
    easy = random_table()
    easy[["score.mig", "score.sap"]] += 100.0
    hard = random_table(data="b")
    table = pd.concat([easy, hard])
    found = metric_agreement(table, ["mig", "sap"])
    alone = metric_agreement(hard, ["mig", "sap"])
    np.testing.assert_allclose(found.pooled.values, alone.pooled.values)
    naive = spearmanr(table["score.mig"], table["score.sap"]).statistic
    assert naive > 0.7 > abs(found.pooled.values.loc["mig", "sap"])


def test_runs_lacking_one_of_two_scores_are_left_out_of_this_pair_only() -> None:
    table = random_table()
    table.loc[:9, "score.mig"] = np.nan
    found = metric_agreement(table).pooled
    assert found.n_runs.loc["mig", "sap"] == 30
    assert found.n_runs.loc["irs", "sap"] == 40
    expected = spearmanr(table["score.mig"][10:], table["score.sap"][10:]).statistic
    assert found.values.loc["mig", "sap"] == pytest.approx(expected)


def test_failed_runs_are_left_out_with_a_count() -> None:
    table = random_table(status="done")
    table.loc[:4, "status"] = "failed"
    table.loc[5:6, ["score.mig", "score.sap", "score.irs"]] = np.nan
    found = metric_agreement(table)
    assert found.n_left_out == 7
    assert len(found.runs) == 33
    expected = metric_agreement(table[7:]).pooled.values
    pd.testing.assert_frame_equal(found.pooled.values, expected)


def test_a_constant_metric_gives_nan_with_the_reason() -> None:
    table = random_table()
    table["score.sap"] = 0.1 + 0.2
    found = metric_agreement(table).pooled
    assert found.values["sap"].isna().all()
    assert found.reasons["mig", "sap"] == "sap does not vary among 40 runs"
    assert set(found.reasons) == {
        pair for pair in found.values.stack(future_stack=True).index if "sap" in pair
    }


def test_one_run_gives_nan_with_the_reason() -> None:
    found = metric_agreement(random_table(1))
    assert found.pooled.values.isna().all(axis=None)
    assert found.pooled.reasons["mig", "sap"] == "one run has both mig and sap"


def test_a_study_without_finished_runs_has_no_datasets() -> None:
    found = metric_agreement(random_table(status="running"))
    assert found.n_left_out == 40
    assert not found.by_dataset
    assert found.pooled.reasons["mig", "sap"] == "no run has both mig and sap"


def test_scores_may_be_chosen_and_a_misspelt_one_gets_a_hint() -> None:
    table = random_table()
    assert list(metric_agreement(table, ["score.sap"]).pooled.values) == ["sap"]
    with pytest.raises(ValueError, match="'score.mgi'.* Did you mean 'mig'"):
        metric_agreement(table, ["mgi"])


def test_a_table_without_scores_or_datasets_is_refused() -> None:
    with pytest.raises(
        ValueError, match="metric_agreement: the table has none of the scores"
    ):
        metric_agreement(pd.DataFrame({"data": ["a"]}))
    with pytest.raises(ValueError, match="no column 'data'"):
        metric_agreement(random_table().drop(columns="data"))


def test_unsupervised_scores_are_found_among_scores_and_final_numbers() -> None:
    table = study_table(
        {
            "score.mig": lambda data, method, rank, seed: rank + seed,
            "score.gaussian_total_correlation": lambda data, method, rank, seed: rank,
            "final.elbo": lambda data, method, rank, seed: -rank - seed,
            "final.total": lambda data, method, rank, seed: seed,
        }
    )
    found = unsupervised_agreement(table).pooled.values
    assert found.index.tolist() == ["elbo", "gaussian_total_correlation"]
    assert found.loc["elbo", "mig"] == pytest.approx(-1.0)
    chosen = unsupervised_agreement(table, unsupervised=["final.total"])
    assert chosen.pooled.values.index.tolist() == ["final.total"]
    with pytest.raises(ValueError, match="scores elbo, reconstruction"):
        unsupervised_agreement(table[["data", "score.mig"]])


def test_downstream_scores_are_compared_with_each_metric() -> None:
    table = study_table(
        {
            "score.mig": lambda data, method, rank, seed: rank,
            "score.sap": lambda data, method, rank, seed: -seed,
            "score.downstream_accuracy": lambda data, method, rank, seed: rank,
            "score.statistical_efficiency": lambda data, method, rank, seed: seed,
        },
        datasets=["a", "b"],
    )
    found = downstream_agreement(table)
    assert list(found.by_dataset) == ["a", "b"]
    expected = pd.DataFrame(
        [[1.0, 0.0], [0.0, -1.0]], index=list(DOWNSTREAM_SCORES), columns=["mig", "sap"]
    )
    pd.testing.assert_frame_equal(found.pooled.values, expected, atol=1e-12)
    columns = {"id", "data", "mig", "sap", *DOWNSTREAM_SCORES}
    assert columns <= set(found.runs)


def test_every_metric_of_the_catalogue_is_known_to_the_analyses() -> None:
    """Names are written down again, because analyses see tables and no metrics."""
    parts = {
        "dci": ["dci_disentanglement", "dci_completeness", "dci_informativeness"],
        "dci_es": ["dci_es_explicitness", "dci_es_size"],
        "downstream": ["downstream_accuracy"],
        "efficiency": ["statistical_efficiency"],
        "active_units": [],  # counts of units are no scores of a model
    }
    known = {*DISENTANGLEMENT_METRICS, *UNSUPERVISED_SCORES, *DOWNSTREAM_SCORES}
    lower = {"reduced_downstream", "strong_downstream", "unfairness", "clustering"}
    for name in set(METRICS) - lower:
        assert set(parts.get(name, [name])) <= known, name
    for name in set(METRICS) & set(DISENTANGLEMENT_METRICS):
        assert METRICS[name].higher_is_better
    assert set(PUBLISHED_METRICS) <= set(DISENTANGLEMENT_METRICS)


def test_metrics_and_downstream_scores_may_be_chosen() -> None:
    downstream = {f"score.{name}": np.arange(40.0) for name in DOWNSTREAM_SCORES}
    table = random_table(**downstream, **{"final.elbo": np.arange(40.0)})
    some = downstream_agreement(table, ["sap"], downstream=DOWNSTREAM_SCORES[:1])
    assert list(some.pooled.values.columns) == ["sap"]
    assert list(some.pooled.values.index) == list(DOWNSTREAM_SCORES[:1])
    found = unsupervised_agreement(table, ["irs", "mig"])
    assert list(found.pooled.values.columns) == ["irs", "mig"]
