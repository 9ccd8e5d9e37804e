import json
import time
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled
from scipy.stats import spearmanr
from sklearn.linear_model import Lasso

from unbraid import Representation
from unbraid.selection import median_over_partners
from unbraid.selection import unsupervised_disentanglement_ranking as ranking

# Made by a transcription of udr.py in disentanglement_lib's repository (its package on
# PyPI lacks it) on the codes and divergences of MODELS; the file names versions.
DLIB = json.loads((Path(__file__).parents[1] / "references/dlib_udr.json").read_text())
GENERATOR = np.random.default_rng(0)
FACTORS = GENERATOR.uniform(-1, 1, (1000, 5))


def log_variances(codes):
    """0 for dead latents, lower from latent to latent for others."""
    logs = np.where(codes.std(axis=0) < 0.05, 0.0, np.linspace(-0.5, -3.0, 10))
    return np.broadcast_to(logs, codes.shape)


CODES = [sampled(name, SPACES["dsprites"], 1000)[0] for name in NAMES]
MODELS = [(codes, log_variances(codes)) for codes in CODES]


def rotation(size, seed):
    square = np.random.default_rng(seed).standard_normal((size, size))
    return np.linalg.qr(square)[0]


def shuffled(codes, seed):
    """Codes with latents in another order and with other signs and scales."""
    generator = np.random.default_rng(seed)
    n = codes.shape[1]
    signed = generator.choice([-1, 1], n) * generator.uniform(0.1, 10, n)
    return (codes * signed + generator.normal(size=n))[:, generator.permutation(n)]


def off_diagonal(table):
    return table[~np.eye(len(table), dtype=bool)]


@pytest.mark.parametrize(
    ("case", "threshold"),
    [("lasso", 0.01), ("spearman", 0.01), ("lasso_half", 0.5), ("lasso_low", 1e-5)],
)
def test_agrees_with_disentanglement_lib(case, threshold):
    udr = ranking(
        MODELS,
        similarity=case.split("_")[0],
        formula="dlib",
        kl_threshold=threshold,
    )
    expected = off_diagonal(np.array(DLIB[case]["pairs"]))
    assert off_diagonal(udr.pairs) == pytest.approx(expected, abs=1e-6)
    assert udr.scores == pytest.approx(DLIB[case]["scores"], abs=1e-6)


def relation_of(similarity, first, second):
    """What each column of the first says about each of the second, one at a time."""
    first, second = (
        (codes - codes.mean(0)) / codes.std(0) for codes in (first, second)
    )
    if similarity == "lasso":
        lasso = Lasso(alpha=0.1, tol=1e-12, max_iter=100_000)
        return np.abs([lasso.fit(first, column).coef_ for column in second.T]).T
    return np.abs([[spearmanr(a, b).statistic for b in second.T] for a in first.T])


@pytest.mark.parametrize("similarity", ["lasso", "spearman"])
def test_is_the_formula_of_the_paper(similarity):
    first, second = CODES[4][:, :9], CODES[7]  # 9 and 10 active latents, correlated
    pairs = ranking([first, second], similarity=similarity).pairs
    for own, other, score in (
        (first, second, pairs[0, 1]),
        (second, first, pairs[1, 0]),
    ):
        relation = relation_of(similarity, own, other)
        total = sum(column.max() ** 2 / column.sum() for column in relation.T)
        total += sum(row.max() ** 2 / row.sum() for row in relation)
        assert score == pytest.approx(total / 19, abs=1e-6)


def test_copies_in_other_order_sign_and_scale_agree():
    copies = [shuffled(FACTORS, seed) for seed in range(4)]
    assert ranking(copies, similarity="spearman").scores == pytest.approx(1, abs=0.12)
    # The lasso takes its penalty of 0.1 off the weight of each copy.
    assert ranking(copies).scores == pytest.approx(0.9, abs=0.001)


def test_monotone_bends_are_nothing_to_ranks_and_cost_the_lasso_their_correlation():
    bent = np.exp(3 * FACTORS)
    ranks = ranking([FACTORS, FACTORS], similarity="spearman").scores
    assert ranking([FACTORS, bent], similarity="spearman").scores == pytest.approx(
        ranks, abs=1e-12
    )
    columns = zip(FACTORS.T, bent.T, strict=True)
    correlation = np.mean([np.corrcoef(a, b)[0, 1] for a, b in columns])
    scores = ranking([FACTORS, bent]).scores
    assert scores == pytest.approx(correlation - 0.1, abs=0.02)
    assert (scores < 0.75).all()


@pytest.mark.parametrize("similarity", ["lasso", "spearman"])
@pytest.mark.parametrize("formula", ["paper", "dlib"])
def test_rotated_copies_disagree_and_rank_below_aligned_ones(similarity, formula):
    rotated = [FACTORS @ rotation(5, seed) for seed in range(6)]
    aligned = [shuffled(FACTORS, seed) for seed in range(6)]
    settings = {"similarity": similarity, "formula": formula}
    assert (ranking(rotated, **settings).scores < 0.5).all()
    # Aligned models are the majority, so that their medians are over agreement.
    together = ranking([*aligned, *rotated[:3]], **settings).scores
    assert together[:6].min() > together[6:].max() + 0.3


@pytest.mark.parametrize("similarity", ["lasso", "spearman"])
@pytest.mark.parametrize("formula", ["paper", "dlib"])
def test_a_model_without_active_latents_has_exactly_0(similarity, formula):
    noise = GENERATOR.standard_normal((1000, 5))
    collapsed = 0.01 * noise, np.zeros_like(noise)
    models = {"one": FACTORS, "two": -FACTORS, "constant": 0 * noise, "dead": collapsed}
    udr = ranking(models, similarity=similarity, formula=formula)
    assert udr.names == ("one", "two", "constant", "dead")
    assert udr.n_active.tolist() == [5, 5, 0, 0]
    assert (udr.scores[2:] == 0).all()
    assert (off_diagonal(udr.pairs[2:, 2:]) == 0).all()
    assert (udr.pairs[:2, 2:] == 0).all()
    assert (udr.pairs[2:, :2] == 0).all()
    # Which count in the median of the living: 0.9, 0, 0.
    assert (udr.scores[:2] == 0).all()


def test_latents_below_the_threshold_take_no_part():
    noise = GENERATOR.standard_normal((1000, 3))
    logs = np.concatenate([np.full((1000, 5), -3.0), np.zeros((1000, 3))], axis=1)
    padded = np.concatenate([FACTORS, 0.05 * noise], axis=1)
    expected = ranking([FACTORS, -FACTORS]).pairs
    pairs = ranking([(padded, logs), -FACTORS]).pairs
    assert off_diagonal(pairs) == pytest.approx(off_diagonal(expected), abs=1e-12)
    low = ranking([(padded, logs), -FACTORS], kl_threshold=1e-6)
    assert low.n_active.tolist() == [8, 5]
    assert low.pairs[0, 1] < expected[0, 1] - 0.1


def test_formulas_differ_only_for_different_numbers_of_active_latents():
    models = [FACTORS, FACTORS[:, :4] @ rotation(4, 0), FACTORS @ rotation(5, 1)]
    paper, dlib = (
        ranking(models, similarity="spearman", formula=formula).pairs
        for formula in ("paper", "dlib")
    )
    assert paper[0, 2] == pytest.approx(dlib[0, 2], abs=1e-12)
    assert abs(paper[0, 1] - dlib[0, 1]) > 0.004
    half = ranking([FACTORS, FACTORS[:, :3]])  # (3 + 3) / (5 + 3) of 0.9
    assert half.scores == pytest.approx(0.9 * 6 / 8, abs=0.002)


def test_a_score_is_the_median_over_models_that_predict_it():
    udr = ranking(MODELS)
    for j in range(len(MODELS)):
        assert udr.scores[j] == np.median(np.delete(udr.pairs[:, j], j))
    assert np.isnan(np.diag(udr.pairs)).all()
    assert not np.allclose(udr.pairs, udr.pairs.T, equal_nan=True)


def test_only_models_of_one_group_are_compared():
    groups = ["a", "b", "a", "b", "alone"]
    udr = ranking(CODES[:5], groups=groups)
    everyone = ranking(CODES[:5]).pairs
    same = np.array([[a == b for b in groups] for a in groups]) & ~np.eye(5, dtype=bool)
    assert (np.isnan(udr.pairs) == ~same).all()
    assert udr.pairs[same] == pytest.approx(everyone[same], abs=1e-12)
    assert np.isnan(udr.scores).tolist() == [False] * 4 + [True]


def test_collinear_latents_are_scored():
    doubled = np.concatenate([FACTORS, FACTORS], axis=1)
    scores = ranking([doubled, FACTORS @ rotation(5, 0), FACTORS]).scores
    assert np.isfinite(scores).all()


def test_sixty_models_take_seconds():
    models = [FACTORS @ rotation(5, seed) for seed in range(60)]
    start = time.perf_counter()
    ranking(models)
    assert time.perf_counter() - start < 10  # 0.4 s when nothing else runs


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([FACTORS], "at least two models, got 1"),
        ([], "at least two models, got 0"),
        (FACTORS, "a list or mapping of models, got ndarray"),
        (Representation(codes=FACTORS), "a list or mapping of models, got Represent"),
        ([FACTORS, FACTORS[:999]], "model_1 must have 1000 rows like .* got 999"),
        ([FACTORS, np.where(FACTORS > 0.9, np.nan, FACTORS)], "model_1: .* is NaN"),
        ([FACTORS[:1], FACTORS[:1]], "model_0: the number of rows must be .* 2, got 1"),
        ([FACTORS[:, :0], FACTORS], "must have shape"),
        (
            [(FACTORS, FACTORS[:, :3]), FACTORS],
            "model_0: log_variances must have shape",
        ),
    ],
)
def test_malformed_models_are_refused(models, message):
    with pytest.raises(ValueError, match=message):
        ranking(models)


def test_representations_of_different_rows_are_refused():
    def of(rows):
        return Representation(codes=FACTORS[:10], rows=np.asarray(rows, np.int64))

    assert np.isfinite(ranking([of(range(10)), of(range(10)), of([])]).scores).all()
    with pytest.raises(ValueError, match="model_2 must have the same rows"):
        ranking([of([]), of(range(10)), of(range(1, 11))])


@pytest.mark.parametrize(
    "options",
    [
        {"similarity": "pearson"},
        {"formula": "other"},
        {"kl_threshold": -1.0},
        {"kl_threshold": np.nan},
        {"groups": [0]},
    ],
)
def test_unknown_options_are_refused(options):
    with pytest.raises(
        ValueError, match="unsupervised_disentanglement_ranking: .* must"
    ):
        ranking([FACTORS, FACTORS], **options)


def test_partners_of_other_groups_are_compared_and_no_others():
    codes = [np.random.default_rng(seed).normal(size=(200, 3)) for seed in range(5)]
    groups = ["a", "a", "b", "b", "c"]
    every = ranking(codes)
    across = ranking(codes, groups=groups, partners="other")
    labels = np.array(groups)
    is_other = labels[:, None] != labels
    assert np.isnan(across.pairs[~is_other]).all()
    # Products over other blocks of columns round differently.
    np.testing.assert_allclose(
        across.pairs[is_other], every.pairs[is_other], rtol=1e-10
    )
    for k in range(5):
        expected = np.median(every.pairs[is_other[k], k])
        assert across.scores[k] == expected


def test_a_configuration_that_only_agrees_with_itself_is_low_across_configurations():
    codes = np.random.default_rng(0).normal(size=(500, 4))
    turned = codes @ np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    models = [codes, -codes, codes[:, ::-1], turned, -turned]
    groups = ["a", "a", "b", "c", "c"]
    within = ranking(models, groups=groups).scores
    across = ranking(models, groups=groups, partners="other").scores
    assert within[3] == pytest.approx(within[0], abs=0.05)
    assert across[3] < across[2]


def test_other_partners_need_groups():
    codes = [np.eye(3)] * 2
    with pytest.raises(ValueError, match="partners='other' needs groups"):
        ranking(codes, partners="other")
    with pytest.raises(ValueError, match="partners"):
        ranking(codes, partners="all")
    alone = ranking(codes, groups=["a", "a"], partners="other")
    assert np.isnan(alone.scores).all()


def test_the_median_over_partners_is_that_of_each_column():
    pairs = np.random.default_rng(0).uniform(size=(3, 5, 5))
    pairs[0, :3, 1] = np.nan
    pairs[1, :, 2] = np.nan
    found = median_over_partners(pairs)
    for k, j in np.ndindex(3, 5):
        others = np.delete(pairs[k, :, j], j)
        known = others[~np.isnan(others)]
        expected = np.median(known) if len(known) else np.nan
        np.testing.assert_equal(found[k, j], expected)
