import dataclasses
import math

import pytest

from unbraid.evolution import (
    Lineage,
    PopulationSettings,
    Range,
    first_generation,
    has_converged,
    next_generation,
)
from unbraid.evolution._generations import find_end_reason

RATE, BATCH, BETA = "training.learning_rate", "training.batch_size", "objective.beta"
RANGES = {
    BATCH: Range(values=[8, 16, 32], whole=True),
    RATE: Range(values=[1e-3, 1e-2], least=5e-4, most=2e-2),
    BETA: Range(values=[1.0, 4.0, 16.0]),
}
COMMON = {"n_images": 100, "batch_size": 64, "seed": 0}


def settings(**changes):
    return PopulationSettings(**({"size": 10, "ranges": RANGES} | changes))


def scored(members, scores):
    return tuple(
        dataclasses.replace(
            member, score=score, failure="it diverged." if score is None else ""
        )
        for member, score in zip(members, scores, strict=True)
    )


def begun(scores, **changes):
    wanted = settings(size=len(scores), **changes)
    members = scored(first_generation(wanted, **COMMON), scores)
    return wanted, Lineage((members,))


def test_first_hyperparameters_are_among_the_values():
    members = first_generation(settings(size=200), **COMMON)
    for path, scope in RANGES.items():
        assert {m.hyperparameters[path] for m in members} == set(scope.values)


def test_published_ranges_are_those_of_the_paper():
    ranges = PopulationSettings().ranges
    assert ranges[BATCH].values == [8, 16, 32, 64, 128, 256, 512, 1024]
    assert ranges[RATE].bounds == pytest.approx((1e-5, 1.0))
    assert len(ranges[RATE].values) == 30
    assert ranges[BETA].bounds == (1, 437)
    assert PopulationSettings().size == 56


def test_every_model_sees_the_wanted_number_of_images():
    for member in first_generation(settings(), **COMMON):
        assert member.steps == math.ceil(100 / member.hyperparameters[BATCH])


def test_seeds_of_members_models_and_generations_all_differ():
    wanted, lineage = begun(range(10), models=3)
    heirs = next_generation(wanted, lineage, **COMMON)
    seeds = [s for m in (*lineage.generations[0], *heirs) for s in m.seeds]
    assert len(set(seeds)) == len(seeds) == 60


def test_the_lowest_fifth_is_replaced_by_the_highest():
    scores = [5, 9, 1, 3, 7, 0, 2, 8, 4, 6]
    wanted, lineage = begun(scores)
    heirs = next_generation(wanted, lineage, **COMMON)
    replaced = [m.index for m in heirs if m.parent != m.index]
    assert replaced == [2, 5]
    assert {heirs[2].parent, heirs[5].parent} <= {1, 7}


def test_both_donors_are_taken_in_the_long_run():
    wanted, _ = begun(range(10))
    found = set()
    for seed in range(20):
        common = COMMON | {"seed": seed}
        members = scored(first_generation(wanted, **common), range(10))
        heirs = next_generation(wanted, Lineage((members,)), **common)
        found |= {heirs[0].parent, heirs[1].parent}
    assert found == {8, 9}


def test_copies_change_and_others_do_not():
    wanted, lineage = begun(range(10))
    old = lineage.generations[0]
    for heir in next_generation(wanted, lineage, **COMMON):
        parent = old[heir.parent]
        if heir.parent == heir.index:
            assert heir.hyperparameters == parent.hyperparameters
        else:
            beta = heir.hyperparameters[BETA] / parent.hyperparameters[BETA]
            at_bound = heir.hyperparameters[BETA] in (1.0, 16.0)
            assert at_bound or round(beta, 6) in (2, 1.2, 0.8, 0.5)
        steps = math.ceil(100 / heir.hyperparameters[BATCH])
        assert heir.steps == parent.steps + steps


def test_bounds_hold_for_ever():
    wanted, lineage = begun(range(10))
    for number in range(40):
        heirs = next_generation(wanted, lineage, **COMMON)
        for path, scope in RANGES.items():
            low, high = scope.bounds
            for heir in heirs:
                assert low <= heir.hyperparameters[path] <= high
                assert not scope.whole or heir.hyperparameters[path] % 1 == 0
        order = [(place * 7 + number) % 10 for place in range(10)]
        lineage = Lineage((*lineage.generations, scored(heirs, order)))


def test_whole_numbers_are_rounded_up_but_not_by_rounding_errors():
    factors = {"factors": [1.2], "share": 0.5}
    ranges = {BATCH: Range(values=[5], most=99, whole=True)}
    wanted, lineage = begun([0, 1], ranges=ranges, **factors)
    assert next_generation(wanted, lineage, **COMMON)[0].hyperparameters == {BATCH: 6}


def test_members_that_failed_are_replaced_and_never_copied():
    scores = [None, 1, None, 0.5, None, None, None, None, None, 0.1]
    wanted, lineage = begun(scores)
    heirs = next_generation(wanted, lineage, **COMMON)
    assert all(scores[heir.parent] is not None for heir in heirs)
    # Two are copied from at most, and the lowest that lives goes on: it is not among
    # the lowest fifth of all.
    assert heirs[9].parent == 9
    assert {h.parent for h in heirs if h.index not in (1, 3, 9)} <= {1, 3}


def test_a_generation_without_survivors_is_an_error_that_says_why():
    wanted, lineage = begun([None, None])
    with pytest.raises(ValueError, match="it diverged"):
        next_generation(wanted, lineage, **COMMON)


def test_of_more_founders_the_best_go_on():
    wanted = settings(size=2, founders=5)
    members = scored(first_generation(wanted, **COMMON), [3, 1, 5, 2, 4])
    heirs = next_generation(wanted, Lineage((members,)), **COMMON)
    assert [h.parent for h in heirs] == [2, 2]  # of 2 and 4, the lower is replaced
    assert [h.index for h in heirs] == [0, 1]


def test_one_member_goes_on_alone():
    wanted, lineage = begun([0.3])
    heir = next_generation(wanted, lineage, **COMMON)[0]
    assert heir.parent == 0
    assert heir.hyperparameters == lineage.generations[0][0].hyperparameters


def test_the_same_seed_gives_the_same_members():
    wanted, lineage = begun(range(10))
    again = next_generation(wanted, lineage, **COMMON)
    assert next_generation(wanted, lineage, **COMMON) == again
    assert first_generation(wanted, **COMMON) != first_generation(
        wanted, **COMMON | {"seed": 1}
    )


def test_winner_is_the_best_of_all_generations_and_its_ancestry_leads_to_it():
    wanted, lineage = begun([0.1, 0.9, 0.5, 0.3])
    heirs = next_generation(wanted, lineage, **COMMON)
    lineage = Lineage((*lineage.generations, scored(heirs, [0.95, 0.2, 0.4, 0.6])))
    assert lineage.winner == (1, 0)
    assert [m.index for m in lineage.ancestry(1, 0)] == [1, 0]
    assert lineage.best_scores == [0.9, 0.95]
    assert Lineage.from_plain(lineage.to_plain()) == lineage


@pytest.mark.parametrize(
    ("best", "expected"),
    [
        ([0.5, 0.5, 0.5], True),
        ([0.5, 0.5], False),
        ([0.1, 0.5, 0.504, 0.508], True),
        ([0.1, 0.5, 0.504, 0.51], False),
        ([0.5, 0.4, 0.5], False),
        ([-math.inf, -math.inf, -math.inf], False),
    ],
)
def test_convergence(best, expected):
    assert has_converged(best, patience=2, change=0.005) is expected


def test_it_is_over_when_it_stands_still_or_the_generations_are_done():
    wanted, lineage = begun([0.5, 0.4], generations=2, patience=1)
    assert find_end_reason(wanted, lineage) == ""
    still = Lineage(lineage.generations * 2)
    assert "changed by less than 0.005" in find_end_reason(wanted, still)
    impatient = settings(size=2, generations=2)
    assert "all 2 generations" in find_end_reason(impatient, still)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 0}, "greater than or equal to 1"),
        ({"share": 0.7}, "less than or equal to 0.5"),
        ({"factors": []}, "at least 1 item"),
        ({"factors": [-1.0]}, "greater than 0"),
        (
            {"founders": 2, "size": 3},
            r"founders must be at least the size \(3\), got 2",
        ),
        ({"ranges": {"beta": RANGES[BETA]}}, "objective.NAME"),
    ],
)
def test_wrong_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        settings(**changes)


@pytest.mark.parametrize(
    "wrong",
    [
        {"values": []},
        {"values": [0.0]},
        {"values": [math.inf]},
        {"values": [1.0], "most": 0.5},
        {"values": [1.5], "whole": True},
    ],
)
def test_wrong_ranges_are_refused(wrong):
    with pytest.raises(ValueError, match="values"):
        Range(**wrong)
