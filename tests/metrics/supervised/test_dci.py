import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled
from scipy.stats import entropy
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold

from unbraid.metrics import (
    Factors,
    Split,
    completeness_score,
    dci,
    disentanglement_score,
    informativeness_score,
)

REFERENCES = Path(__file__).parents[2] / "references"
DLIB = json.loads((REFERENCES / "dlib_predictors.json").read_text())
VARIANTS = ["fast", "dlib", "lasso", "random_forest"]


def split(n_train, n_rows):
    return Split(np.arange(n_train), np.arange(n_train, n_rows))


def uniform_factors(n_rows, *sizes, seed=0):
    return np.random.default_rng(seed).integers(0, sizes, size=(n_rows, len(sizes)))


def noisy(n_rows):
    """Six latents for three factors, with noise; quick to score."""
    factors = uniform_factors(n_rows, 3, 4, 5)
    noise = np.random.default_rng(1).standard_normal((n_rows, 6))
    return np.hstack([factors, factors]) + [0.3, 0.3, 0.3, 2, 2, 2] * noise, factors


LONGEST = ("partial", "random", "noisy", "mixed", "rotated")
QUICKEST = [("shapes3d", name) for name in NAMES if name not in LONGEST]
QUICKEST += [("dsprites", "perfect"), ("dsprites", "duplicated")]
ALL = [(space, name) for space in SPACES for name in NAMES]


@pytest.mark.parametrize(
    ("space", "name"),
    [
        pytest.param(*pair, marks=() if pair in QUICKEST else pytest.mark.slow)
        for pair in ALL
    ],
)
def test_fast_is_within_two_hundredths_of_disentanglement_lib(space, name):
    scores = dci(*sampled(name, SPACES[space], 15_000), split=split(10_000, 15_000))
    expected = DLIB[f"{space}/{name}"]["dci"]
    assert scores.disentanglement == pytest.approx(
        expected["disentanglement"], abs=0.02
    )
    assert scores.completeness == pytest.approx(expected["completeness"], abs=0.02)
    informativeness = expected["informativeness_test"]
    assert scores.informativeness == pytest.approx(informativeness, abs=0.02)


@pytest.mark.slow
def test_dlib_is_disentanglement_lib():
    codes, factors = sampled("rotated", SPACES["shapes3d"], 900)
    scores = dci(codes, factors, variant="dlib", split=split(600, 900))
    first, second = DLIB["dci_of_900_rows"]["shapes3d/rotated"]
    # disentanglement_lib takes a random one of equal splits, and differs from itself.
    for field in ("disentanglement", "completeness"):
        allowed = 3 * abs(first[field] - second[field])
        assert getattr(scores, field) == pytest.approx(first[field], abs=allowed)


@pytest.mark.parametrize("name", ["noisy", "rotated", "duplicated"])
def test_fast_follows_disentanglement_lib_on_few_rows(name):
    codes, factors = sampled(name, SPACES["shapes3d"], 900)
    scores = dci(codes, factors, split=split(600, 900))
    expected, _ = DLIB["dci_of_900_rows"][f"shapes3d/{name}"]
    for field in ("disentanglement", "completeness"):
        assert getattr(scores, field) == pytest.approx(expected[field], abs=0.02)


def test_scores_are_the_formulas_of_the_importances():
    scores = dci(*noisy(600))
    matrix = scores.disentanglement.matrix
    per_code = 1 - entropy(matrix.T + 1e-11, base=3)
    expected = np.sum(per_code * matrix.sum(axis=1) / matrix.sum())
    assert scores.disentanglement == pytest.approx(expected, abs=1e-12)
    assert list(scores.disentanglement.details.values()) == pytest.approx(per_code)
    per_factor = 1 - entropy(matrix + 1e-11, base=6)
    expected = np.sum(per_factor * matrix.sum(axis=0) / matrix.sum())
    assert scores.completeness == pytest.approx(expected, abs=1e-12)
    assert list(scores.completeness.per_factor.values()) == pytest.approx(per_factor)


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_latent_per_factor_is_perfect_in_any_order_and_sign(variant):
    factors = uniform_factors(600, 3, 5)
    codes = factors @ np.array([[0.0, -1.0, 0.0], [2.0, 0.0, 0.0]])
    scores = dci(codes, factors, variant=variant)
    assert scores.disentanglement == pytest.approx(1.0, abs=1e-6)
    assert scores.completeness == pytest.approx(1.0, abs=1e-6)
    assert scores.informativeness == pytest.approx(1.0, abs=1e-3)
    assert scores.completeness.matrix.argmax(axis=0).tolist() == [1, 0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_rotation_by_45_degrees_is_neither_disentangled_nor_complete(variant):
    factors = uniform_factors(600, 6, 6)
    rotated = factors @ np.array([[1.0, 1.0], [-1.0, 1.0]])
    scores = dci(rotated, factors, variant=variant)
    assert scores.disentanglement < 0.1
    assert scores.completeness < 0.1


def test_a_monotone_warp_changes_nothing():
    codes, factors = noisy(600)
    plain, warped = dci(codes, factors), dci(np.exp(codes), factors)
    expected = pytest.approx(plain.completeness.matrix, abs=0.005)
    assert warped.completeness.matrix == expected


def test_a_permutation_of_latents_permutes_the_importances():
    codes, factors = noisy(600)
    plain, permuted = dci(codes, factors), dci(codes[:, ::-1], factors)
    # Where splits are equal the first latent parts the rows, so not to the last digit.
    expected = pytest.approx(plain.completeness.matrix[::-1], abs=0.02)
    assert permuted.completeness.matrix == expected


def test_duplicate_latents_share_a_factor():
    factors = uniform_factors(600, 3, 5)
    twice = np.hstack([factors, factors, np.ones((600, 1))]).astype(float)
    scores = dci(twice, factors)
    assert scores.disentanglement == pytest.approx(1.0, abs=1e-6)
    assert scores.completeness == pytest.approx(1 - np.log(2) / np.log(5), abs=1e-3)
    assert scores.completeness.matrix[4].tolist() == [0.0, 0.0]


def test_noise_is_at_chance():
    _, factors = noisy(1500)
    codes = np.random.default_rng(2).standard_normal((1500, 6))
    scores = dci(codes, factors)
    assert scores.disentanglement < 0.05
    assert scores.completeness < 0.05
    chance = (1 / 3 + 1 / 4 + 1 / 5) / 3
    assert scores.informativeness == pytest.approx(chance, abs=0.05)
    assert scores.informativeness.details["train"] > 0.6


@pytest.mark.parametrize("variant", VARIANTS)
def test_constant_codes_know_nothing(variant):
    factors = uniform_factors(300, 2, 3)
    scores = dci(np.ones((300, 2)), factors, variant=variant)
    assert scores.disentanglement == pytest.approx(0.0, abs=1e-9)
    assert scores.completeness == pytest.approx(0.0, abs=1e-9)
    assert scores.informativeness < 0.65
    assert not scores.disentanglement.matrix.any()


@pytest.mark.parametrize("variant", VARIANTS)
def test_continuous_factors_are_scored_by_the_variance_explained(variant):
    generator = np.random.default_rng(0)
    values = 1e6 + generator.uniform(size=(600, 2))
    codes = values + [0.0, 100.0] * generator.standard_normal((600, 2)) - 1e6
    scores = dci(codes, Factors(values, names=("known", "lost")), variant=variant)
    assert scores.informativeness.per_factor["known"] > 0.98
    assert scores.informativeness.per_factor["lost"] == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("variant", ["fast", "lasso"])
def test_every_kind_of_factor_gaps_and_more_factors_than_codes_are_scored(variant):
    generator = np.random.default_rng(0)
    values = uniform_factors(600, 3, 4, 5, 2).astype(float)
    values[:, 3] = generator.uniform(size=600)
    values[::2, 1] = np.nan
    values[5:, 2] = np.nan
    kinds = ("categorical", "ordinal", "cyclic", "continuous")
    codes = values[:, [0, 3]]
    scores = dci(codes, Factors(values, kinds=kinds), variant=variant)
    assert scores.completeness.matrix.shape == (2, 4)
    assert all(0 <= float(score) <= 1 for score in vars(scores).values())
    assert scores.informativeness.per_factor["factor_3"] > 0.98


def test_rows_with_a_missing_label_are_left_out_for_that_factor_only():
    codes, factors = noisy(600)
    holes = factors.astype(float)
    holes[::3, 1] = np.nan
    whole, part = dci(codes, factors), dci(codes, holes)
    columns = whole.completeness.matrix != part.completeness.matrix
    assert columns.any(axis=0).tolist() == [False, True, False]


def test_one_factor_and_one_latent_are_trivially_one():
    factors = uniform_factors(200, 4)
    scores = dci(factors.astype(float), factors)
    assert scores.disentanglement == scores.completeness == pytest.approx(1.0)
    assert "one factor" in scores.disentanglement.note
    assert "one latent" in scores.completeness.note


def test_the_seed_decides():
    codes, factors = noisy(300)
    first, again, other = (dci(codes, factors, seed=seed) for seed in (0, 0, 1))
    assert first.disentanglement == again.disentanglement
    assert first.disentanglement != other.disentanglement


def test_each_score_can_be_had_alone():
    codes, factors = noisy(200)
    scores = dci(codes, factors, seed=3)
    assert disentanglement_score(codes, factors, seed=3) == scores.disentanglement
    assert completeness_score(codes, factors, seed=3) == scores.completeness
    assert informativeness_score(codes, factors, seed=3) == scores.informativeness


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="variant must be .*'fast'.*, got 'gbt'"):
        dci(np.eye(4), np.arange(4), variant="gbt")


def test_a_split_without_a_known_label_is_refused():
    values = np.array([[0, 0], [1, 1], [0, np.nan], [1, np.nan]])
    with pytest.raises(
        ValueError, match="'factor_1' is known in 2 rows to learn from and 0"
    ):
        dci(np.eye(4), values, split=split(2, 4))


def test_logistic_importances_are_the_weights_of_scikit_learn():
    """Transcribed from the docstring, for three classes and a number."""
    codes, factors = noisy(450)
    number = codes[:, 4] + np.random.default_rng(2).standard_normal(450)
    values = np.column_stack([factors[:, 0], number])
    rows = split(300, 450)
    kinds = ("ordinal", "continuous")
    scores = dci(codes, Factors(values, kinds=kinds), variant="logistic", split=rows)
    scaled = (codes - codes[:300].mean(axis=0)) / codes[:300].std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classes = LogisticRegressionCV(Cs=10, cv=KFold(5), scoring="accuracy")
        classes.fit(scaled[:300], factors[:300, 0])
    line = RidgeCV(np.logspace(-4, 4, 10)).fit(scaled[:300], number[:300])
    expected = np.stack([np.abs(classes.coef_).mean(axis=0), np.abs(line.coef_)])
    np.testing.assert_allclose(scores.completeness.matrix, expected.T, rtol=1e-6)
    accuracy = (classes.predict(scaled[300:]) == factors[300:, 0]).mean()
    per_factor = scores.informativeness.per_factor
    assert per_factor["factor_0"] == pytest.approx(accuracy)
    r2 = line.score(scaled[300:], number[300:])
    assert per_factor["factor_1"] == pytest.approx(r2)


@pytest.mark.parametrize("variant", ["fast", "logistic"])
def test_more_labels_make_predictors_better(variant):
    codes, factors = noisy(2_000)
    informativeness = [
        dci(codes, factors, variant=variant, n_train=n, n_test=500).informativeness
        for n in (10, 100, 1_000)
    ]
    assert informativeness[0] < informativeness[1] < informativeness[2]
