import json

import numpy as np
import pytest
from command_line import app
from typer.testing import CliRunner

import unbraid
from unbraid.data import Subset, Vectors, XYSquares, open_dataset
from unbraid.execution import InlineExecutor
from unbraid.metrics import (
    METRICS,
    Factors,
    encode_traversals,
    evaluate,
    interventional_robustness_score,
    linearity_ratio,
)
from unbraid.models import Gaussian, build_model
from unbraid.models.networks import Dense
from unbraid.reports import write_report
from unbraid.studies import run_study, study_from_plain, study_table

SQUARES = XYSquares(image_size=8, square_size=1, n_squares=2)
ALONG = (
    "linearity",
    "axis_alignment",
    "axis_orientation",
    "equivariance",
    "block_diagonality",
    "distance_correlation",
)
QUICK = {"intervals": False, "levels": False, "progress": False}


def untrained(dataset=SQUARES, seed=0):
    return build_model(
        Dense(),
        image_shape=dataset.image_shape,
        n_latents=9,
        likelihood=Gaussian(),
        seed=seed,
    )


class Counter:
    """An encoder that remembers the images it was given."""

    def __init__(self):
        self.n_images = 0

    def __call__(self, images):
        self.n_images += len(images)
        return images.flatten(1)[:, :5]


def test_a_model_is_scored_on_complete_traversals():
    model = untrained()
    card = evaluate(model, SQUARES, metrics=ALONG, rows=500, **QUICK)
    codes = unbraid.encode(model, SQUARES)
    factors = Factors(codes.factors, names=codes.factor_names)
    exact = {
        score.name: float(score)
        for name in ALONG
        for score in METRICS[name].scores(codes.codes, factors, 0)
    }
    assert exact["linearity"] < 0.5
    for name in ALONG:
        assert card[name] == pytest.approx(exact[name], abs=0.03)
        assert card[name].factors_used == (4, 4)


def test_the_score_does_not_depend_on_the_number_of_random_rows():
    model = untrained()
    few, many = (
        evaluate(model, SQUARES, metrics=["linearity", "mig"], rows=rows, **QUICK)
        for rows in (100, 1_000)
    )
    assert few["linearity"] == many["linearity"]
    assert few["mig"] != many["mig"]
    assert few.n_traversal_rows == many.n_traversal_rows > 0


def test_a_model_encoded_whole_scores_as_the_arrays_of_its_codes_do():
    model = untrained()
    codes = unbraid.encode(model, SQUARES)
    card = evaluate(model, SQUARES, metrics=ALONG, levels=False, progress=False)
    arrays = evaluate(codes, metrics=ALONG, levels=False, progress=False)
    for name in ALONG:
        assert card[name] == arrays[name]
        assert card[name].interval == arrays[name].interval is not None
    assert card.n_rows == len(SQUARES)
    assert card.n_traversal_rows == 0


@pytest.mark.parametrize("rows", [60, 1_000])
def test_traversals_that_lack_values_of_the_dataset_are_not_complete(rows):
    # The first factor has 53 values. Its traversals have three of them, and all other
    # values are on no traversal at all.
    crossed = [(a, b) for a in range(3) for b in range(20)]
    alone = [(3 + i, 100 + i) for i in range(50)]
    codes = np.random.default_rng(0).random((110, 4))
    data = Vectors(codes, np.array(crossed + alone))
    card = evaluate(
        lambda images: images.flatten(1), data, metrics="linearity", rows=rows, **QUICK
    )
    assert "too few complete traversals" in card.failures["linearity"]


def test_a_factor_with_too_many_values_to_sample_is_left_out():
    fine, coarse = np.divmod(np.arange(30_000 * 5), 5)
    table = np.column_stack([fine, coarse])
    data = Vectors(table / [30_000, 5], table, factor_names=("fine", "coarse"))
    card = evaluate(
        lambda images: images.flatten(1), data, metrics="linearity", **QUICK
    )
    assert card["linearity"].factors_used == (1, 2)
    assert "'fine'" in card["linearity"].note


def test_exactly_the_rows_of_the_traversals_are_encoded():
    encoder = Counter()
    sample = encode_traversals(encoder, SQUARES, seed=3, progress=False)
    assert sample is not None
    assert encoder.n_images == len(sample.rows) == len(np.unique(sample.rows))
    factors = SQUARES.factors(sample.rows)
    # 256 of 512 traversals per factor were drawn; others are complete by chance.
    for column in range(4):
        others = np.delete(factors, column, axis=1)
        sizes = np.unique(others, axis=0, return_counts=True)[1]
        assert 256 <= (sizes == 8).sum() < 512
    again = encode_traversals(Counter(), SQUARES, seed=3, progress=False)
    other = encode_traversals(Counter(), SQUARES, seed=4, progress=False)
    np.testing.assert_array_equal(sample.rows, again.rows)
    assert len(other.rows) != len(sample.rows) or (other.rows != sample.rows).any()


def test_a_grid_of_millions_costs_a_bounded_number_of_images():
    encoder = Counter()
    huge = XYSquares(image_size=16, square_size=1)
    assert len(huge) == 16**6
    card = evaluate(encoder, huge, metrics="linearity", **QUICK)
    assert encoder.n_images == card.n_rows <= 6 * 16 * 256
    assert card["linearity"].factors_used == (6, 6)


def test_a_dataset_that_is_no_grid_is_scored_on_the_traversals_that_it_has():
    # Half of the positions of the first square along one axis, all of the others.
    factors = SQUARES.factors(np.arange(len(SQUARES)))
    half = np.flatnonzero(factors[:, 0] % 2 == 0)
    card = evaluate(untrained(), Subset(SQUARES, half), metrics=ALONG[:-1], **QUICK)
    assert card["linearity"].factors_used == (4, 4)
    scattered = np.random.default_rng(0).permutation(len(SQUARES))[:400]
    card = evaluate(untrained(), Subset(SQUARES, np.sort(scattered)), metrics=ALONG)
    assert set(card.failures) == set(ALONG[:-1])
    assert "too few complete traversals" in card.failures["linearity"]
    assert card["distance_correlation"] >= 0.0


def test_intervals_come_from_halves_of_the_traversals():
    squares = XYSquares(image_size=8, square_size=1)
    model = untrained(squares)
    card = evaluate(model, squares, metrics="linearity", levels=False, progress=False)
    low, high = card["linearity"].interval
    assert 0.001 < high - low < 0.05
    codes = unbraid.encode(model, squares, progress=False)
    assert low <= linearity_ratio(codes.codes, codes.factors) <= high


def test_library_study_command_and_report_give_the_same_value(tmp_path):
    data = "xy_squares:image_size=8,square_size=1,n_squares=2"
    metrics = [*ALONG, "mig", "sap"]
    study = study_from_plain(
        {
            "data": data,
            "objective": "beta_vae",
            "training": {"steps": 1, "batch_size": 4},
            "evaluation": {"metrics": metrics, "rows": 300, "seed": 5},
        }
    )
    run_study(study, tmp_path / "study", executor=InlineExecutor())
    table = study_table(tmp_path / "study")
    folder = next((tmp_path / "study" / "runs").iterdir())
    card = evaluate(
        unbraid.load(folder),
        open_dataset(data),
        metrics=metrics,
        rows=300,
        seed=5,
        **QUICK,
    )
    file = tmp_path / "scores.json"
    arguments = ["evaluate", folder, "--data", data, "--metrics", ",".join(metrics)]
    arguments += ["--rows", 300, "--seed", 5, "--no-intervals", "--no-levels"]
    result = CliRunner().invoke(app, [str(a) for a in (*arguments, "--json", file)])
    assert result.exit_code == 0, result.output
    told = json.loads(file.read_text())["scores"]
    for name, score in card.items():
        assert told[name]["value"] == float(score)
        assert table[f"score.{name}"].tolist() == [float(score)]
    assert "4 of 4" in result.output
    assert table["partial_scores"].tolist() == [""]
    # What a study on incomplete data would have written.
    written = json.loads((folder / "scores.json").read_text())
    assert written["scores"]["linearity"]["factors_used"] == [4, 4]
    written["scores"]["linearity"]["factors_used"] = [1, 4]
    (folder / "scores.json").write_text(json.dumps(written))
    table = study_table(tmp_path / "study")
    assert table["partial_scores"].tolist() == ["linearity 1 of 4"]
    page = write_report(tmp_path / "study").read_text()
    assert "have scores that ignore some factors" in page
    assert "linearity 1 of 4" in page
    assert "1 of 4" in write_report(folder).read_text()


def test_irs_is_below_zero_where_groups_stray_farther_than_all_rows():
    # All rows are 1 from their mean, 0; those at a value up to 4/3 from a mean of 1/3.
    codes = np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0])
    score = interventional_robustness_score(codes, [0, 0, 0, 1, 1, 1], quantile=1.0)
    assert score == pytest.approx(-1 / 3)
    low, high = METRICS["irs"].bounds
    assert low <= score <= high
