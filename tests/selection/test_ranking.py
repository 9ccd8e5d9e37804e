"""Claims about the ranking of models without labels."""

import json

import numpy as np
import pytest

from unbraid.selection import (
    Evidence,
    chance_agreement,
    chance_level,
    rank_models,
    unsupervised_disentanglement_ranking,
)


def evidence(levels, *, n_runs=5, spread=0.02, **more):
    """Evidence of configurations whose runs agree to a level."""
    rng = np.random.default_rng(0)
    names, owners = [], []
    n_models = len(levels) * n_runs
    pairs = np.full((n_models, n_models), np.nan)
    for index, (owner, level) in enumerate(levels.items()):
        names += [f"{owner}{seed}" for seed in range(n_runs)]
        owners += [owner] * n_runs
        rows = slice(index * n_runs, (index + 1) * n_runs)
        noise = rng.normal(scale=spread, size=(n_runs, n_runs))
        pairs[rows, rows] = level + (noise + noise.T) / 2
    np.fill_diagonal(pairs, np.nan)
    given = {
        "names": tuple(names),
        "specifications": tuple(owners),
        "udr_pairs": pairs,
        "active_latents": np.full(n_models, 4),
        "chance": dict.fromkeys(levels, 0.3),
    }
    return Evidence(**(given | more))


def test_specifications_stand_in_the_order_of_their_agreement():
    found = rank_models(evidence({"low": 0.4, "high": 0.9, "middle": 0.6}))
    assert [spec.name for spec in found.specifications] == ["high", "middle", "low"]
    assert found.chosen.startswith("high")
    assert [spec.group for spec in found.specifications] == [0, 1, 2]


def test_a_model_that_differs_from_its_siblings_is_not_chosen():
    given = evidence({"a": 0.8, "b": 0.4})
    pairs = given.udr_pairs.copy()
    pairs[0, 1:5] = pairs[1:5, 0] = 0.1
    found = rank_models(evidence({"a": 0.8, "b": 0.4}, udr_pairs=pairs))
    assert found.chosen in ("a1", "a2", "a3", "a4")
    assert next(m for m in found.models if m.name == "a0").score < found.models[0].score


def test_what_cannot_be_told_apart_is_in_one_group():
    found = rank_models(evidence({"a": 0.6, "b": 0.601, "c": 0.4}, spread=0.1))
    groups = {spec.name: spec.group for spec in found.specifications}
    assert groups["a"] == groups["b"] == 0
    assert groups["c"] == 1
    assert "2 that do not differ clearly" in found.reason


def test_intervals_contain_the_score_and_are_wider_for_a_larger_spread():
    levels = {"a": 0.4, "b": 0.5, "c": 0.6}
    narrow = rank_models(evidence(levels, n_runs=12, spread=0.001))
    wide = rank_models(evidence(levels, n_runs=12, spread=0.8))

    def width(found):
        return np.mean([spec.interval[1] - spec.interval[0] for spec in found.models])

    assert width(wide) > 2 * width(narrow)
    for spec in (*narrow.specifications, *wide.specifications):
        assert spec.interval[0] <= spec.score <= spec.interval[1]
        assert spec.interval[0] >= 0
        assert spec.interval[1] <= 1


def test_nothing_is_chosen_when_agreement_is_that_of_chance():
    found = rank_models(evidence({"a": 0.3, "b": 0.25}))
    assert found.chosen is None
    assert found.reason.startswith("No model is better than chance")


def test_what_is_better_than_chance_stands_before_what_is_not():
    given = evidence({"a": 0.5, "b": 0.4}, chance={"a": 0.6, "b": 0.2})
    found = rank_models(given)
    assert [spec.name for spec in found.specifications] == ["b", "a"]
    assert found.chosen.startswith("b")


def test_models_without_active_latents_are_refused_however_stable_they_are():
    still = {"a": np.zeros((5, 5)), "b": np.full((5, 5), 0.3)}
    active = np.repeat([0, 4], 5)
    found = rank_models(
        evidence({"a": 0.9, "b": 0.5}, active_latents=active, dynamics_pairs=still)
    )
    assert found.chosen.startswith("b")
    assert [m.score for m in found.models if m.specification == "a"] == [0] * 5
    dead = rank_models(evidence({"a": 0.9, "b": 0.5}, active_latents=np.zeros(10)))
    assert dead.chosen is None
    assert "none of them has a latent" in dead.reason


def test_stable_training_decides_between_equals():
    rng = np.random.default_rng(1)
    noise = rng.uniform(0, 0.01, size=(2, 5, 5))
    given = evidence(
        {"a": 0.5, "b": 0.5},
        spread=0.0,
        dynamics_pairs={"a": 0.4 + noise[0], "b": 0.1 + noise[1]},
    )
    weights = {"reproducible": 1.0, "dynamics": 0.05}
    assert rank_models(given, weights=weights).specifications[0].name == "b"


def test_weights_say_what_counts():
    elbo = np.repeat([-10.0, -20.0], 5)
    given = evidence({"a": 0.5, "b": 0.6}, elbo=elbo)
    by_fit = rank_models(given, weights={"elbo": 1.0})
    assert [spec.name for spec in by_fit.specifications] == ["a", "b"]
    by_agreement = rank_models(given, weights={"udr": 1.0})
    assert [spec.name for spec in by_agreement.specifications] == ["b", "a"]


def test_labels_move_the_choice_and_the_effect_is_told():
    supervised = np.repeat([0.9, 0.1], 5)
    given = evidence({"a": 0.5, "b": 0.6}, supervised=supervised, n_labels=1_000)
    found = rank_models(given)
    assert found.chosen.startswith("a")
    assert found.labels.chosen_without.startswith("b")
    assert found.labels.weight == pytest.approx(1_000 / 1_100)
    assert found.labels.agreement < 0
    few = rank_models(evidence({"a": 0.5, "b": 0.6}, supervised=supervised, n_labels=1))
    assert few.chosen.startswith("b")
    assert few.labels.agreement == pytest.approx(1.0)


def test_a_ranking_is_always_the_same_and_fits_in_json():
    given = evidence({"a": 0.5, "b": 0.52}, spread=0.2)
    first, second = rank_models(given), rank_models(given)
    assert first == second
    assert json.loads(json.dumps(first.to_plain()))["chosen"] == first.chosen


def test_two_runs_are_enough():
    found = rank_models(evidence({"a": 0.9, "b": 0.4}, n_runs=2))
    assert found.specifications[0].name == "a"


def test_two_runs_are_enough_to_compare_training_dynamics():
    pairs = {"a": np.full((2, 2), 0.1), "b": np.full((2, 2), 0.4)}
    given = evidence({"a": 0.6, "b": 0.6}, n_runs=2, dynamics_pairs=pairs)
    found = rank_models(given, weights={"dynamics": 1.0})
    assert [spec.name for spec in found.specifications] == ["a", "b"]
    assert [spec.score for spec in found.specifications] == [1, 0]
    assert [spec.group for spec in found.specifications] == [0, 1]


def test_a_score_missing_of_one_model_does_not_count_against_its_siblings():
    elbo = np.repeat([-10.0, -20.0], 5)
    elbo[2] = np.nan
    given = evidence({"a": 0.5, "b": 0.5}, elbo=elbo)
    found = rank_models(given, weights={"elbo": 1.0})
    assert [spec.name for spec in found.specifications] == ["a", "b"]
    assert found.models[0].name != "a2"


def test_a_configuration_alone_has_the_score_that_it_has_among_others():
    alone = rank_models(evidence({"a": 0.6}, spread=0.0))
    both = rank_models(evidence({"a": 0.6, "b": 0.5}, spread=0.0))
    assert alone.specifications[0].score == both.specifications[0].score
    assert alone.chosen.startswith("a")


def test_the_score_is_the_mean_of_reproducible_and_independent_latents():
    contrast = np.repeat([0.5, 0.0], 5)
    active = np.repeat([4, 2], 5)
    given = evidence(
        {"a": 0.6, "b": 0.8},
        spread=0.0,
        active_latents=active,
        chance_mean={"a": 0.2, "b": 0.6},
        contrast=contrast,
    )
    found = rank_models(given, weights={"contrast": 1.0, "reproducible": 3.0})
    expected = {
        "a": (0.25 * np.exp(-0.5), 0.75 * 0.5),
        "b": (0.25 * 0.5, 0.75 * 0.25),
    }
    for spec in found.specifications:
        independent, reproducible = expected[spec.name]
        assert spec.parts["contrast"] == pytest.approx(independent)
        assert spec.parts["reproducible"] == pytest.approx(reproducible)
        assert spec.score == pytest.approx(independent + reproducible)
    assert "as independent as those of 2.4 latents at right angles" in found.reason


def test_models_without_a_decoder_count_as_entangled_but_not_their_siblings():
    contrast = np.zeros(10)
    contrast[[0, 1]] = np.nan
    given = evidence({"a": 0.7, "b": 0.6}, spread=0.0, contrast=contrast)
    found = rank_models(given, weights={"contrast": 1.0})
    assert {spec.score for spec in found.specifications} == {1.0}
    assert {model.name for model in found.models if not model.score} == {"a0", "a1"}


def test_the_ranking_tells_what_each_score_alone_would_choose():
    elbo = np.arange(10.0)
    contrast = np.linspace(1.0, 0.1, 10)[::-1].copy()  # a0 is the least entangled
    given = evidence({"a": 0.4, "b": 0.9}, elbo=elbo, contrast=contrast)
    alone = rank_models(given).alone
    assert alone["elbo"] == "b4"
    assert alone["contrast"] == "a0"
    assert alone["udr"].startswith("b")


def test_beta_vae_above_its_chance_level_wins_over_a_higher_elbo_and_chance():
    # Seen in a demo: relative to chance, the first is far better.
    given = evidence(
        {"beta_vae beta=4": 0.63, "beta_tc_vae beta=2": 0.62},
        n_runs=3,
        spread=0.0,
        chance={"beta_vae beta=4": 0.49, "beta_tc_vae beta=2": 0.59},
        chance_mean={"beta_vae beta=4": 0.44, "beta_tc_vae beta=2": 0.55},
        elbo=np.repeat([-60.0, -50.0], 3),
    )
    assert rank_models(given).chosen.startswith("beta_vae beta=4")
    # By its level alone, without means of chance, too.
    only = evidence(
        {"beta_vae beta=4": 0.63, "beta_tc_vae beta=2": 0.62},
        n_runs=3,
        spread=0.0,
        chance_mean={"beta_vae beta=4": 0.49, "beta_tc_vae beta=2": 0.59},
        elbo=np.repeat([-60.0, -50.0], 3),
    )
    assert rank_models(only).chosen.startswith("beta_vae beta=4")


def test_agreement_above_chance_by_rounding_alone_is_refused():
    # With one active latent the level of chance is what was measured, to 16 digits.
    chance = {"a": float(np.nextafter(0.8, 0))}
    given = evidence({"a": 0.8}, n_runs=2, spread=0.0, chance=chance)
    assert rank_models(given).chosen is None


def test_weights_of_nothing_that_is_known_are_refused():
    with pytest.raises(
        ValueError, match="weights must include a score of the evidence"
    ):
        rank_models(evidence({"a": 0.5, "b": 0.6}), weights={"elbo": 1.0})


def test_one_rotation_has_no_spread_and_is_refused():
    with pytest.raises(ValueError, match="n_rotations must be .* at least 2, got 1"):
        chance_level([np.eye(4), np.eye(4)], ["a", "a"], n_rotations=1)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"names": ("a",) * 10}, "different names"),
        ({"active_latents": np.ones(3)}, "active_latents must have shape"),
        ({"elbo": np.ones(3)}, "elbo must have shape"),
        ({"contrast": np.ones(3)}, "contrast must have shape"),
        ({"udr_pairs": np.ones((2, 2))}, "udr_pairs must have shape"),
        (
            {"dynamics_pairs": {"a": np.ones((2, 2))}},
            r"dynamics_pairs\['a'\] must have shape",
        ),
    ],
)
def test_evidence_that_does_not_fit_is_refused(more, message):
    with pytest.raises(ValueError, match=message):
        evidence({"a": 0.5, "b": 0.6}, **more)


@pytest.mark.parametrize("weights", [{"utr": 1.0}, {}, {"udr": 0.0}])
def test_weights_that_mean_nothing_are_refused(weights):
    with pytest.raises(
        ValueError, match="weights must be of contrast, reproducible, across, udr"
    ):
        rank_models(evidence({"a": 0.5, "b": 0.6}), weights=weights)


@pytest.mark.parametrize(("level", "first"), [(0.60, "low"), (0.75, "high")])
def test_elbo_decides_only_between_near_equals(level, first):
    elbo = np.repeat([-10.0, -20.0], 5)
    given = evidence({"low": 0.59, "high": level}, elbo=elbo, spread=0.0)
    weights = {"reproducible": 1.0, "elbo": 0.05}
    assert rank_models(given, weights=weights).specifications[0].name == first


def test_agreement_with_other_configurations_counts_a_quarter():
    across = np.repeat([0.6, 0.2], 5)
    given = evidence(
        {"a": 0.5, "b": 0.5}, spread=0.0, across=across, contrast=np.zeros(10)
    )
    first, second = rank_models(given).specifications
    assert (first.name, second.name) == ("a", "b")
    assert first.score == pytest.approx(0.5 + 0.25 * 0.5 + 0.25 * 0.6)
    assert second.score == pytest.approx(0.5 + 0.25 * 0.5 + 0.25 * 0.2)


def test_agreement_is_ranked_relative_to_its_chance_level():
    given = evidence(
        {"a": 0.62, "b": 0.63},
        spread=0.0,
        chance={"a": 0.60, "b": 0.55},
        chance_mean={"a": 0.55, "b": 0.45},
    )
    assert rank_models(given).chosen.startswith("b")
    higher = {"a": 0.5, "b": 0.58}
    given = evidence({"a": 0.62, "b": 0.63}, spread=0.0, chance_mean=higher)
    assert rank_models(given).chosen.startswith("a")


def test_more_reproducible_latents_beat_higher_agreement():
    active = np.repeat([2, 5], 5)
    given = evidence({"few": 0.95, "many": 0.8}, spread=0.0, active_latents=active)
    assert rank_models(given).chosen.startswith("many")


def test_less_than_half_a_reproducible_latent_is_refused():
    given = evidence({"a": 0.34}, spread=0.0, chance_mean={"a": 0.29})
    assert rank_models(given).chosen is None  # above the level of 0.3, but 0.28 latents


def test_a_single_run_of_one_configuration_does_not_make_the_others_refused():
    codes = np.random.default_rng(0).normal(size=(400, 4))
    copies = [codes, -codes, codes[:, ::-1], codes + 1.0]
    owners = ["a", "a", "a", "b"]
    udr = unsupervised_disentanglement_ranking(copies, groups=owners)
    chance = chance_agreement(copies, owners)
    assert np.isfinite(chance["a"].level)
    found = rank_models(
        Evidence(
            names=("a0", "a1", "a2", "b0"),
            specifications=tuple(owners),
            udr_pairs=udr.pairs,
            active_latents=udr.n_active,
            chance={name: each.level for name, each in chance.items()},
            chance_mean={name: each.mean for name, each in chance.items()},
        )
    )
    assert found.chosen.startswith("a")
    assert found.models[-1].name == "b0"


def test_a_ranking_is_shown_in_a_line_and_as_a_table():
    found = rank_models(evidence({"<high>": 0.9, "low": 0.4}, n_runs=15))
    assert (
        repr(found)
        == f"Ranking(30 models of 2 configurations, chosen={found.chosen!r})"
    )
    page = found._repr_html_()
    assert page.count("<tr>") == 21
    assert "10 more models: see to_frame()." in page
    assert "&lt;high&gt;" in page
    assert "<high>" not in page
    refused = rank_models(evidence({"a": 0.1, "b": 0.1}))
    assert repr(refused) == "Ranking(10 models of 2 configurations, chosen=None)"
    assert "Chosen: no model." in refused._repr_html_()


@pytest.mark.parametrize("weight", [-1.0, float("inf"), float("nan")])
def test_weights_below_zero_or_infinite_are_refused(weight):
    with pytest.raises(ValueError, match="rank_models: weight of reproducible must be"):
        rank_models(
            evidence({"a": 0.5, "b": 0.6}), weights={"udr": 1, "reproducible": weight}
        )
