import json
import math
import tracemalloc

import numpy as np
import pytest
from constructed import SPACES, sampled

import unbraid
from unbraid.data import XYSquares
from unbraid.metrics import (
    METRICS,
    Factors,
    Score,
    Scorecard,
    evaluate,
    mutual_information_gap,
)

SPACE = SPACES["dsprites"]
QUICK = "mig,modularity,irs"


@pytest.fixture(scope="module")
def noisy():
    codes, values = sampled("noisy", SPACE, 2000)
    return codes, Factors(values, names=SPACE.names, kinds=SPACE.kinds)


def test_scores_are_those_of_the_metrics(noisy):
    codes, factors = noisy
    card = evaluate(codes, factors, metrics=QUICK)
    assert list(card) == ["mig", "modularity", "irs"]
    assert card["mig"] == mutual_information_gap(codes, factors)
    assert card["mig"].per_factor.keys() == set(SPACE.names)
    assert card["mig"].seconds > 0


def test_chance_is_below_and_ideal_above_a_fair_representation(noisy):
    card = evaluate(*noisy, metrics="mig,dcimig,jemmig")
    for score in card.values():
        assert score.chance < score < score.ideal


def test_the_same_seed_gives_the_same_card(noisy):
    first, second = (
        evaluate(*noisy, metrics="mig,sap", seed=5).to_frame() for _ in range(2)
    )
    columns = ["value", "low", "high", "chance", "ideal"]
    np.testing.assert_array_equal(first[columns], second[columns])


@pytest.mark.slow
def test_intervals_hold_most_fresh_evaluations():
    # The interval is for 19 in 20; of 100 trials the standard deviation is 2.2.
    names = ("mig", "modularity", "pairwise_information")
    hits = dict.fromkeys(names, 0)
    for trial in range(50):
        codes, values = sampled("noisy", SPACE, 1000, seed=2 * trial)
        card = evaluate(codes, values, metrics=names, seed=trial, levels=False)
        fresh_codes, fresh_values = sampled("noisy", SPACE, 1000, seed=2 * trial + 1)
        fresh = evaluate(
            fresh_codes, fresh_values, metrics=names, intervals=False, levels=False
        )
        for name in names:
            low, high = card[name].interval
            hits[name] += low <= fresh[name] <= high
    assert min(hits.values()) >= 42, hits


def test_a_metric_that_cannot_be_computed_takes_no_other_down():
    values = np.arange(60) % 3
    card = evaluate(values.astype(float), values, metrics="mig,modularity")
    assert "at least two latents" in card.failures["mig"]
    assert card["modularity"] > 0
    with pytest.raises(KeyError, match="has no score: .* two latents"):
        card["mig"]
    assert "mig: no score" in str(card)


def test_without_factors_there_are_the_scores_that_need_none(noisy):
    card = evaluate(noisy[0])
    unsupervised = {name for name, m in METRICS.items() if not m.uses_factors}
    assert set(card) == unsupervised
    assert card["active_units"].chance is None


def test_a_model_and_its_data_are_encoded_once_and_scored():
    data = XYSquares(image_size=8, square_size=1, n_squares=1, rgb=False)

    def encoder(images):
        return images[:, 0].sum(dim=1) @ images.new_tensor(range(8))[:, None]

    def with_rows(images):
        across = encoder(images)
        down = encoder(images.transpose(2, 3))
        return np.concatenate([across, down], axis=1)

    card = evaluate(with_rows, data, metrics="mig", intervals=False)
    assert card["mig"] == pytest.approx(1.0)
    assert card.factor_names == ("x_R", "y_R")
    made = unbraid.encode(with_rows, data)
    assert evaluate(made, metrics="mig", intervals=False)["mig"] == card["mig"]


def test_few_rows_get_no_interval(noisy):
    values = np.arange(30) % 3
    codes = np.column_stack([values, values[::-1]]).astype(float)
    assert evaluate(codes, values, metrics="mig")["mig"].interval is None


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("migg", "Did you mean 'mig'"),
        ("", "at least one metric"),
        (["mig", "nonsense"], "there is no metric 'nonsense'"),
    ],
)
def test_unknown_metrics_are_refused(noisy, metrics, message):
    with pytest.raises(ValueError, match=message):
        evaluate(*noisy, metrics=metrics)
    with pytest.raises(ValueError, match="the metric 'mig' needs factors"):
        evaluate(noisy[0], metrics="mig")


def test_a_card_is_a_frame_and_json(noisy, tmp_path):
    card = evaluate(*noisy, metrics=QUICK)
    frame = card.to_frame()
    assert frame["score"].tolist() == list(card)
    card.to_json(tmp_path / "scores.json")
    read = json.loads((tmp_path / "scores.json").read_text())
    assert read["scores"]["mig"]["value"] == float(card["mig"])
    assert np.array(read["scores"]["mig"]["matrix"]).shape == (10, 5)


def test_numbers_that_json_cannot_say_are_null():
    card = Scorecard(scores=(Score(math.inf, name="tc", details={"a": math.nan}),))
    read = json.loads(card.to_json())
    assert read["scores"]["tc"]["value"] is None
    assert read["scores"]["tc"]["details"] == {"a": None}


def test_much_work_is_spread_over_processes(noisy, monkeypatch):
    from unbraid.metrics import _run

    alone = evaluate(*noisy, metrics=QUICK, seed=1)
    monkeypatch.setattr(_run, "_WORTH_PROCESSES", 0.0)
    together = evaluate(*noisy, metrics=QUICK, seed=1, n_jobs=2)
    columns = ["value", "low", "high", "chance", "ideal"]
    np.testing.assert_array_equal(
        alone.to_frame()[columns], together.to_frame()[columns]
    )


def test_of_a_large_dataset_a_random_part_is_encoded():
    seen = []

    def encoder(images):
        seen.append(len(images))
        return images.flatten(1)[:, :3]

    squares = XYSquares(image_size=8, square_size=1, n_squares=2)
    card = evaluate(encoder, squares, metrics="mig", rows=300, progress=False)
    assert sum(seen) == card.n_rows == 300
    again = evaluate(encoder, squares, metrics="mig", rows=300, progress=False)
    assert again["mig"] == card["mig"]
    other = evaluate(encoder, squares, metrics="mig", rows=300, seed=1, progress=False)
    assert other["mig"] != card["mig"]


def test_a_metric_without_a_score_keeps_its_row_in_the_frame():
    codes, factors = sampled("perfect", SPACES["shapes3d"], 100)
    card = evaluate(codes[:, :1], factors, metrics="mig,modularity", progress=False)
    frame = card.to_frame().set_index("score")
    assert math.isnan(frame.loc["mig", "value"])
    assert "at least two latents" in frame.loc["mig", "note"]
    assert frame.loc["modularity", "value"] >= 0.0


def test_a_share_of_test_cases_is_never_certain():
    generator = np.random.default_rng(0)
    values = generator.integers(0, 4, (400, 3))
    codes = values + 0.01 * generator.standard_normal(values.shape)
    card = evaluate(codes, values, metrics="factor_vae_score", levels=False, n_jobs=1)
    score = card["factor_vae_score"]
    assert score == 1.0
    # All 5,000 votes are right, in every replicate; two of each kind are added.
    n, quantile = 5_000, 2.364624
    share = (n + 2) / (n + 4)
    width = quantile * np.sqrt(2 * share * (1 - share) / n)
    np.testing.assert_allclose(score.interval, (1 - width, 1), rtol=1e-6)


def test_intervals_end_where_the_range_of_a_score_ends():
    generator = np.random.default_rng(0)
    values = generator.integers(0, 4, (80, 2))
    codes = values + 0.3 * generator.standard_normal(values.shape)
    names = [name for name, metric in METRICS.items() if metric.seconds < 5]
    card = evaluate(codes, values, metrics=names, levels=False, n_jobs=1)
    bounds = {
        score.name: METRICS[name].range(codes.shape[1])
        for name in names
        for score in METRICS[name].scores(codes, Factors(values), 0)
    }
    clipped = 0
    for score in card.values():
        low, high = bounds[score.name]
        assert low <= score <= high
        if score.interval is not None:
            assert low <= score.interval[0] <= score.interval[1] <= high
            clipped += score.interval[0] == low or score.interval[1] == high
    assert clipped > 3


def test_nothing_is_drawn_on_the_terminal_without_progress(monkeypatch):
    from unbraid import representation
    from unbraid.metrics import _run

    hidden = []

    def record(items, *, disable, **_):
        hidden.append(disable)
        return items

    monkeypatch.setattr(representation, "tqdm", record)
    monkeypatch.setattr(_run, "tqdm", record)
    squares = XYSquares(image_size=8, square_size=1, n_squares=2)
    for rows in (100, 5_000):
        evaluate(
            lambda images: images.flatten(1)[:, :3],
            squares,
            metrics="mig,linearity",
            rows=rows,
            levels=False,
            intervals=False,
            progress=False,
        )
    assert len(hidden) == 5  # the smaller sample is encoded apart from the traversals
    assert all(hidden)


def test_a_large_table_is_not_copied_for_every_metric():
    codes, values = sampled("noisy", SPACE, 60_000)
    factors = Factors(values)
    peaks = []
    for metrics in ("mig", "mig,mig_sup,jemmig,dcimig,modularity,linearity"):
        tracemalloc.start()
        evaluate(codes, factors, metrics=metrics, n_jobs=1, progress=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Each metric has a value, a chance level and eight replicates of its own.
    assert peaks[1] < peaks[0] + codes.nbytes


def test_codes_are_never_written_to():
    codes, values = sampled("noisy", SPACE, 300)
    kept = codes.copy()
    names = [name for name, metric in METRICS.items() if metric.seconds < 5]
    card = evaluate(codes, values, metrics=names, intervals=False, n_jobs=1)
    np.testing.assert_array_equal(codes, kept)
    assert codes.flags.writeable
    needs_traversals = {"linearity", "axis_alignment", "axis_orientation"}
    needs_traversals |= {"equivariance", "block_diagonality"}
    assert set(card.failures) <= {*needs_traversals, "analogies"}


def test_a_score_of_some_factors_says_so_in_its_own_row(tmp_path):
    grid = np.stack(np.meshgrid(*[range(5)] * 4), axis=-1).reshape(-1, 4)
    # Of every factor but the first each traversal lacks a value.
    values = grid[grid[:, 1:].sum(axis=1) % 5 > 0]
    codes = values.astype(float)
    card = evaluate(codes, values, metrics="linearity,mig,active_units", levels=False)
    assert card["linearity"].factors_used == (1, 4)
    assert card["mig"].factors_used == (4, 4)
    assert card["active_units"].factors_used is None
    frame = card.to_frame().set_index("score")
    assert frame["factors"].tolist() == ["1 of 4", "4 of 4", ""]
    row = next(line for line in str(card).splitlines() if line.startswith("linearity"))
    assert "1.0000" in row
    assert "1 of 4" in row
    read = json.loads(card.to_json(tmp_path / "scores.json"))
    assert read["scores"]["linearity"]["factors_used"] == [1, 4]


@pytest.mark.parametrize("n_rows", [4, 12, 60])
@pytest.mark.parametrize("n_copies", [1, 3])
def test_scores_of_small_and_duplicated_tables_are_finite(n_rows, n_copies):
    generator = np.random.default_rng(n_rows)
    codes = np.repeat(generator.standard_normal((n_rows, 4)), n_copies, axis=0)
    codes = np.column_stack([codes, codes[:, 0]])
    real = np.repeat(generator.random((n_rows, 1)), n_copies, axis=0)
    values = np.column_stack([np.arange(len(codes)) % 2, real])
    names = [name for name, metric in METRICS.items() if metric.seconds < 5]
    card = evaluate(
        codes,
        values,
        metrics=[*names, "efficiency"],
        intervals=False,
        levels=False,
        n_jobs=1,
    )
    for score in card.values():
        assert math.isfinite(score), score.name
    assert all(reason.endswith(".") for reason in card.failures.values())
