"""Metrics by name with options, as text and as mappings."""

import numpy as np
import pytest
from whole_command import run_whole

from unbraid.data import XYSquares
from unbraid.metrics import (
    METRICS,
    Factors,
    Metric,
    Score,
    choose_metrics,
    compare,
    evaluate,
    latent_data_correlation,
    mutual_information_gap,
    resolve_metrics,
)
from unbraid.representation import Representation

GENERATOR = np.random.default_rng(0)
VALUES = GENERATOR.integers(0, 4, (300, 2))
CODES = VALUES + 0.4 * GENERATOR.normal(size=(300, 2))


def score(wanted, codes=CODES, factors=VALUES, **options):
    options = {"intervals": False, "levels": False, "progress": False} | options
    return evaluate(codes, factors, metrics=wanted, **options)


@pytest.mark.parametrize(
    "wanted",
    [
        "mig,mig:bins=5,dci:variant=lasso,n_train=50,sap",
        "mig, mig:bins = 5, dci:n_train=50,variant=lasso, sap",
        ["mig", "mig:bins=5", "dci:n_train=5e1, variant=lasso", "sap"],
        [
            "mig",
            {"name": "mig", "bins": 5},
            {"name": "dci", "n_train": 50, "variant": "lasso"},
            {"name": "sap"},
        ],
    ],
)
def test_the_same_metrics_can_be_written_in_several_ways(wanted):
    texts = ["mig", "mig:bins=5", "dci:variant=lasso,n_train=50", "sap"]
    assert choose_metrics(wanted, have_factors=True) == texts
    assert choose_metrics(texts, have_factors=True) == texts
    labels = ["mig", "mig[bins=5]", "dci[variant=lasso,n_train=50]", "sap"]
    assert list(resolve_metrics(wanted, have_factors=True)) == labels


def test_scores_with_options_have_columns_of_their_own_and_details():
    card = score("mig,mig:bins=5,dci:variant=lasso", levels=True)
    names = ["dci_disentanglement", "dci_completeness", "dci_informativeness"]
    named = [f"{name}[variant=lasso]" for name in names]
    assert list(card) == ["mig", "mig[bins=5]", *named]
    assert card["mig[bins=5]"] == mutual_information_gap(CODES, VALUES, bins=5)
    assert card["mig[bins=5]"] != card["mig"]
    assert card["mig[bins=5]"].chance < 0.1 < card["mig[bins=5]"].ideal
    assert list(card["dci[variant=lasso]"]) == named
    frame = card.to_frame(details=True).set_index("score")
    own = frame.loc["mig[bins=5]"]
    assert own["per_factor.factor_1"] == card["mig[bins=5]"].per_factor["factor_1"]
    latent = card[named[0]].details["latent_1"]
    assert frame.loc[named[0], "detail.latent_1"] == latent
    assert not any("." in column for column in card.to_frame())


def test_suites_can_be_extended():
    wanted = choose_metrics("standard,mig:bins=5,mig", have_factors=True)
    assert wanted == [*choose_metrics("standard", have_factors=True), "mig:bins=5"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("mig:bin=5", r"mig has no option 'bin'\. Did you mean 'bins'\? Options are"),
        ({"name": "mig", "estimatr": 1}, "Did you mean 'estimator'"),
        ("mig:estimator=exact", "mig: estimator must be one of histogram, posterior"),
        ("mig:bins=many", "mig: bins must be an integer, got 'many'"),
        ("downstream:sizes=3", r"sizes must be a list such as \[a, b\]"),
        ("mig:bins", "mig: options must be written as name=value, got 'bins'"),
        ("mig:bins=5,bins=6", "mig: option bins is given twice"),
        ("mgi:bins=5", "no metric 'mgi'. Did you mean 'mig'"),
        ("bins=5", "no metric 'bins=5'"),
        ("mig:seed=5", "mig has no option 'seed'"),
        ("sap:split=5", "sap has no option 'split'"),
        ({"bins": 5}, "a metric with options needs its name"),
        ([3], "a metric must be a name, a function or a Metric object, got 3"),
        ([], "must name at least one metric"),
    ],
)
def test_what_cannot_be_read_is_named(wanted, said):
    with pytest.raises(ValueError, match=said):
        evaluate(CODES, VALUES, metrics=wanted)


def test_metrics_of_packages_have_options_too(monkeypatch):
    def power(codes, factors, exponent: float = 1.0, *, mode="plain"):
        return Score(codes.std() ** exponent, name="power")

    monkeypatch.setitem(METRICS.built_in, "power", Metric(power, 0.1))
    card = score("power:mode=other,exponent=2,power")
    assert list(card) == ["power[exponent=2.0,mode=other]", "power"]
    assert card["power[exponent=2.0,mode=other]"] == pytest.approx(card["power"] ** 2)


def test_every_metric_of_the_catalog_lists_its_options():
    types = {name: metric.option_types for name, metric in METRICS.items()}
    assert set(types["mig"]) == {"estimator", "bins", "n_rows"}
    assert "along" in types["latent_data_correlation"]
    for options in types.values():
        assert not {"codes", "factors", "seed", "split", "distance"} & set(options)


def test_the_command_line_lists_options():
    result = run_whole("names", "metrics")
    lines = [line for line in result.stdout.splitlines() if "latent_data" in line]
    assert "along, correlation, norm, pairs, n_pairs" in lines[0]


LOGS = np.full(CODES.shape, -3.0) + 0.1 * CODES


def test_posteriors_are_scored_where_there_are_log_variances():
    codes = Representation(CODES, log_variances=LOGS, factors=VALUES)
    name = "mig[estimator=posterior]"
    text = [
        "mig",
        "mig:estimator=posterior",
        "gaussian_total_correlation:posterior=exact",
    ]
    card = score(text, codes, None, levels=True, intervals=True)
    assert card[name] == mutual_information_gap(
        CODES, VALUES, estimator="posterior", log_variances=LOGS
    )
    low, high = card[name].interval
    assert low < card[name] < high
    assert card[name].chance < 0.2
    assert card[name].ideal is None
    plain = score(text, CODES, VALUES)
    assert plain["mig"] == card["mig"]
    assert "needs the log-variances" in plain.failures[name]
    assert len(plain.failures) == 2
    two = compare({"a": codes, "b": CODES}, VALUES, metrics=text[:2], intervals=False)
    assert name in two.cards["b"].failures


GRID = XYSquares(image_size=8, square_size=2, n_squares=1, spacing=1)


def encode_position(images):
    return np.asarray(images).reshape(len(images), -1)[:, ::7]


@pytest.mark.parametrize("rows", [10, 10_000])
def test_the_correlation_with_image_distances_needs_a_dataset_or_images(rows):
    codes = encode_position(GRID.images(np.arange(len(GRID))) / 255.0)
    factors = Factors(GRID.factors(np.arange(len(GRID))), names=GRID.factor_names)
    images = GRID.images(np.arange(len(GRID)))
    expected = latent_data_correlation(codes, factors, images)
    name = "latent_data_correlation"
    card = score(name, encode_position, GRID, rows=rows, levels=True, intervals=True)
    # The encoder is given float32.
    assert card[name] == pytest.approx(expected, abs=1e-6)
    assert card[name].chance < 0.5 < card[name] <= card[name].ideal
    given = score([name], codes, factors, observations=images)
    assert given[name] == expected
    reason = score([name], codes, factors).failures[name]
    assert reason.endswith("pass the images as observations.")
    with pytest.raises(ValueError, match="one entry for each of the 16 rows of codes"):
        score(name, codes, factors, observations=images[:3])
    random = score(f"{name}:along=random", codes, factors, observations=images)
    assert f"{name}[along=random]" in random
