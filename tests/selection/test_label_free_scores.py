"""Claims about the catalog of label-free scores."""

import numpy as np
import pytest
from linear_models import linear_model

import unbraid.selection
from unbraid.metrics import kl_per_latent
from unbraid.selection import (
    SCORES,
    ScoredRun,
    jacobian_contrast,
    label_free_scores,
    model_centrality,
    pipe_score,
    self_mig,
    standardized_agreement,
    training_dynamics,
    unsupervised_disentanglement_ranking,
)

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(200, 3))
LOGS = np.full((200, 3), -2.0)
OWNERS = ["a", "a", "b", "b"]
MODELS = [linear_model(np.linalg.qr(RNG.normal(size=(3, 3)))[0]) for _ in OWNERS]
CODES = [FACTORS @ model.encoding.numpy() for model in MODELS]
TRACES = [RNG.normal(size=(4, 20, 5)).cumsum(axis=0) for _ in OWNERS]
LOSSES = RNG.random((4, 200))
RUNS = [
    ScoredRun(
        name=f"run {k}",
        configuration=owner,
        codes=(CODES[k], LOGS),
        model=MODELS[k],
        trace=TRACES[k],
        reconstruction=LOSSES[k],
    )
    for k, owner in enumerate(OWNERS)
]
CODED = [run.codes for run in RUNS]
BARE = {"codes", "runs"}


@pytest.fixture(scope="module")
def scores():
    return label_free_scores(RUNS, seed=5)


def test_every_score_is_computed_for_every_run(scores):
    assert list(scores) == list(SCORES)
    for name, values in scores.items():
        assert values.shape == (4,), name
        assert np.isfinite(values).all(), name


def test_scores_are_those_of_their_functions(scores):
    udr = unsupervised_disentanglement_ranking
    expected = {
        "udr_lasso": udr(CODED, groups=OWNERS).scores,
        "udr_spearman": udr(CODED, groups=OWNERS, similarity="spearman").scores,
        "udr_across": udr(
            CODED, groups=OWNERS, similarity="spearman", partners="other"
        ).scores,
        "standardized_agreement": standardized_agreement(CODED, groups=OWNERS, seed=5),
        "model_centrality": model_centrality(MODELS, CODED, seed=5).scores,
        "pipe": [pipe_score(*each, seed=5) for each in zip(MODELS, CODED, strict=True)],
        "self_mig": [self_mig(codes) for codes in CODED],
        "jacobian_contrast": [
            jacobian_contrast(*each, seed=5) for each in zip(MODELS, CODED, strict=True)
        ],
        "dynamics": np.repeat(
            [training_dynamics(TRACES[k : k + 2], seed=5).score for k in (0, 2)], 2
        ),
        "elbo": [
            -losses.mean() - kl_per_latent(codes, LOGS)
            for codes, losses in zip(CODES, LOSSES, strict=True)
        ],
        "active_latents": [3.0] * 4,
        "total_correlation": [
            -0.5 * np.linalg.slogdet(np.corrcoef(codes.T))[1] for codes in CODES
        ],
    }
    assert expected.keys() == scores.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(scores[name], values, err_msg=name, atol=1e-12)


def test_entries_say_what_a_reader_must_know():
    for name, score in SCORES.items():
        assert "codes" in score.needs, name
        assert score.reference, name
        assert score.seconds > 0, name
        public = getattr(unbraid.selection, score.function.__name__, None)
        metric = getattr(unbraid.metrics, score.function.__name__, None)
        assert score.function in (public, metric), name


def test_all_scores_together_fit_into_a_minute():
    assert sum(score.seconds for score in SCORES.values()) < 60


def test_a_score_that_lacks_something_is_left_out_or_refused():
    bare = [
        ScoredRun(name=run.name, configuration=run.configuration, codes=codes)
        for run, codes in zip(RUNS, CODES, strict=True)
    ]
    found = label_free_scores(bare)
    assert list(found) == [k for k, v in SCORES.items() if set(v.needs) <= BARE]
    with pytest.raises(ValueError, match="'pipe' needs model of every run"):
        label_free_scores(bare, ["pipe"])
    with pytest.raises(ValueError, match="'elbo' needs log_variances and recon"):
        label_free_scores(bare, ["elbo"])
    with pytest.raises(ValueError, match="'udr_lasso' needs several runs"):
        label_free_scores(bare[:1], ["udr_lasso"])


def test_one_run_is_enough_for_scores_of_single_models():
    found = label_free_scores(RUNS[:1])
    assert set(found) == {k for k, v in SCORES.items() if "runs" not in v.needs}
    assert {"pipe", "self_mig", "jacobian_contrast"} <= set(found)


def test_runs_without_partners_and_collapsed_runs_have_no_score():
    lonely = [*RUNS[:3]]
    found = label_free_scores(lonely, ["udr_lasso", "dynamics", "udr_across"])
    assert np.isnan(found["udr_lasso"]).tolist() == [False, False, True]
    assert np.isnan(found["dynamics"]).tolist() == [False, False, True]
    assert not np.isnan(found["udr_across"]).any()
    dead = ScoredRun(name="dead", configuration="a", codes=0 * FACTORS, trace=TRACES[3])
    found = label_free_scores([*RUNS[:2], dead], ["dynamics"])
    assert np.isnan(found["dynamics"]).tolist() == [False, False, True]


def test_a_redundant_latent_has_infinite_total_correlation():
    run = ScoredRun(name="a", configuration="a", codes=FACTORS[:, [0, 1, 1]])
    assert label_free_scores([run], ["total_correlation"])["total_correlation"] == [
        np.inf
    ]


def test_unknown_names_are_refused_with_a_hint():
    with pytest.raises(ValueError, match="no label-free score 'pip'.*'pipe'"):
        label_free_scores(RUNS, ["pip"])
