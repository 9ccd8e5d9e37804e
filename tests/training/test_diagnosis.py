import numpy as np
import pytest

from unbraid.data import Vectors
from unbraid.models.objectives import (
    VAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaVAE,
    FactorVAE,
    SemiSupervised,
)
from unbraid.training import TrainingSpec
from unbraid.training._diagnosis import diagnose


def records(*losses, active=2):
    return [
        {"step": 1000 * number, "reconstruction": loss, "active_latents": active}
        for number, loss in enumerate(losses, start=1)
    ]


def names(objective, history):
    return [
        found.name for found in diagnose(TrainingSpec(objective=objective), history)
    ]


def test_a_good_run_has_no_warning():
    assert names(BetaVAE(), records(100.0, 50.0)) == []
    assert names(BetaVAE(), []) == []


def test_collapse_under_a_large_beta_is_blamed_on_beta():
    history = records(100.0, 100.0, active=0)
    assert names(BetaVAE(beta=50.0), history) == ["nothing_learnt"]
    assert names(BetaVAE(beta=1.0), history) == ["posterior_collapse"]
    assert names(VAE(), history) == ["posterior_collapse"]


@pytest.mark.parametrize(
    ("objective", "blamed"),
    [
        (BetaTCVAE(alpha=1.0, beta=6.0, gamma=30.0), "gamma = 30"),
        (BetaTCVAE(alpha=9.0, beta=6.0), "alpha = 9"),
        (BetaTCVAE(), "beta = 6"),
        (SemiSupervised(base=BetaVAE(beta=8.0)), "beta = 8"),
        # In means over 4096 pixels and 10 latents, as much as 41 in sums.
        (BetaVAE(beta=0.1, scale="mean"), "beta = 0.1"),
    ],
)
def test_the_weight_that_is_blamed_is_the_largest(objective, blamed):
    spec = TrainingSpec(objective=objective)
    (found,) = diagnose(spec, records(100.0, 100.0, active=0))
    assert found.name == "nothing_learnt"
    assert found.message.startswith(f"{blamed} is so large")


def test_a_weight_that_is_small_is_not_blamed():
    history = records(100.0, 100.0, active=0)
    small = (BetaTCVAE(beta=0.5), AnnealedVAE(), FactorVAE(), BetaVAE(beta=0.5))
    for objective in (*small, BetaVAE(beta=0.001, scale="mean")):
        assert names(objective, history) == ["posterior_collapse"]


def test_it_is_too_early_to_say_after_a_few_steps():
    record = {"step": 100, "reconstruction": 9.0, "active_latents": 0}
    assert names(BetaVAE(beta=50.0), [record]) == []
    assert names(VAE(), [record]) == []


def test_messages_say_what_to_do():
    spec = TrainingSpec(objective=BetaVAE(beta=50.0))
    (found,) = diagnose(spec, records(1.0, active=0))
    assert "beta = 50" in found.message
    assert "Lower beta" in found.message
    assert found.step == 1000


def test_a_loss_that_grows_is_an_explosion():
    assert names(VAE(), records(100.0, 1000.0)) == ["exploding_loss"]
    assert names(VAE(), records(100.0, 150.0)) == []


def test_a_run_with_a_huge_beta_warns_and_keeps_it(train_small, tmp_path):
    run = train_small(
        BetaVAE(beta=1e4), steps=300, learning_rate=0.01, out=tmp_path, n_latents=2
    )
    assert [warning.name for warning in run.warnings] == ["nothing_learnt"]
    assert (
        train_small(
            BetaVAE(beta=1e4), steps=300, learning_rate=0.01, out=tmp_path, n_latents=2
        ).warnings
        == run.warnings
    )


def test_bernoulli_refuses_what_is_not_between_0_and_1(train_small):
    values = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(
        ValueError, match="The likelihood Bernoulli needs values from 0 to 1"
    ):
        train_small(data=Vectors(values), likelihood="bernoulli")
    run = train_small(data=Vectors(abs(values) / 9), likelihood="bernoulli")
    assert len(run.history) == 4


def test_bernoulli_refuses_standardized_data(train_small):
    with pytest.raises(ValueError, match="likelihood for standardized data"):
        train_small(likelihood="bernoulli", standardize=True)
