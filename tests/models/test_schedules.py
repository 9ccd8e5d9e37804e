import dataclasses
import math

import pytest
from parameter_errors import refusal_of

from unbraid.foundation import from_plain, to_plain
from unbraid.models import (
    SCHEDULES,
    Constant,
    Cosine,
    Cyclic,
    Decay,
    Linear,
    fill_steps,
    value_at,
)
from unbraid.models.objectives import AnnealedVAE, BetaVAE


def test_linear_is_level_before_and_after_its_way():
    rise = Linear(start=2.0, end=10.0, steps=4, first_step=10)
    assert [rise.at(step) for step in (0, 10, 11, 12, 14, 99)] == [2, 2, 4, 6, 10, 10]


def test_cosine_is_half_a_wave():
    fall = Cosine(start=1.0, end=0.0, steps=100)
    assert fall.at(0) == 1.0
    assert fall.at(100) == pytest.approx(0.0)
    for step in (10, 37, 80):
        assert fall.at(step) == pytest.approx((1 + math.cos(math.pi * step / 100)) / 2)


def test_cyclic_begins_anew():
    waves = Cyclic(start=0.0, end=1.0, period=10, rising=0.5)
    one = [waves.at(step) for step in range(10)]
    assert one == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1, 1, 1, 1, 1])
    assert one == [waves.at(step) for step in range(30, 40)]


def test_a_number_is_its_own_schedule():
    assert value_at(3.0, 7) == value_at(Constant(value=3.0), 7) == 3.0


@pytest.mark.parametrize("kind", [Linear, Cosine])
def test_a_way_without_an_end_takes_its_share_of_the_run(kind):
    filled = fill_steps(kind(start=0.0, end=1.0, first_step=100), 1000)
    assert filled.steps == 900
    filled = fill_steps(kind(start=0.0, end=1.0, first_step=100, share=1 / 3), 1000)
    assert filled.steps == 300
    assert fill_steps(kind(start=0.0, end=1.0, first_step=100), 50).steps == 1


def test_filling_reaches_into_objectives_and_leaves_the_rest():
    objective = BetaVAE(beta=Linear(start=0.0, end=4.0))
    filled = objective.over(200)
    assert filled.beta == Linear(start=0.0, end=4.0, steps=200)
    assert objective.beta.steps is None
    fixed = BetaVAE(beta=Linear(start=0.0, end=4.0, steps=7))
    assert fixed.over(200) is fixed
    assert AnnealedVAE().over(300).over(900) == AnnealedVAE().over(300)


def test_a_way_without_an_end_says_what_to_do():
    with pytest.raises(ValueError, match="no number of steps. Set steps"):
        Linear(start=0.0, end=1.0).at(0)


@pytest.mark.parametrize("kind", [Linear, Cosine])
@pytest.mark.parametrize("options", [{"steps": 0}, {"share": 0.0}, {"share": 1.5}])
def test_impossible_ways_are_refused(kind, options):
    with pytest.raises(ValueError, match=refusal_of(options)):
        kind(start=0.0, end=1.0, **options)


@pytest.mark.parametrize("options", [{"period": 0}, {"rising": 0.0}, {"rising": 1.1}])
def test_impossible_cycles_are_refused(options):
    with pytest.raises(ValueError, match=refusal_of(options)):
        Cyclic(**{"start": 0.0, "end": 1.0, "period": 10, **options})


def test_objectives_refuse_schedules_that_end_out_of_range():
    with pytest.raises(ValueError, match="beta must be at least 0, got -1.0"):
        BetaVAE(beta=Linear(start=1.0, end=-1.0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        BetaVAE().beta = 2.0


def test_decay_is_level_and_then_falls_to_its_end():
    rate = Decay(value=2.0, end=1.0, share=0.25, steps=400)
    assert [rate.at(step) for step in (0, 100, 300)] == [2.0, 2.0, 2.0]
    assert rate.at(350) == pytest.approx(1.5)
    assert rate.at(400) == rate.at(500) == 1.0


def test_decay_of_a_longer_run_begins_like_that_of_a_shorter_one():
    short, long = (fill_steps(Decay(value=1.0), n_steps) for n_steps in (100, 200))
    assert [short.at(step) for step in range(70)] == [long.at(s) for s in range(70)]
    assert short.at(90) != long.at(90)


def test_decay_may_end_before_the_run_and_stays_at_its_end():
    beta = Decay(value=8.0, end=2.0, share=0.3, until=0.7, steps=1_000)
    assert [beta.at(step) for step in (0, 200, 400)] == [8.0, 8.0, 8.0]
    for step in range(400, 701, 50):
        wave = math.cos(math.pi * (step - 400) / 300)
        assert beta.at(step) == pytest.approx(2.0 + 6.0 * (1 + wave) / 2)
    assert [beta.at(step) for step in (700, 701, 1_000, 2_000)] == [2.0] * 4


def test_decay_may_begin_with_the_run():
    beta = Decay(value=1.0, share=0.5, until=0.5, steps=100)
    assert beta.at(0) == 1.0
    assert beta.at(25) == pytest.approx(0.5)
    assert beta.at(50) == beta.at(100) == 0.0


def test_decay_until_the_end_is_written_and_computed_as_before_it_could_end_earlier():
    rate = Decay(value=0.1, share=0.3, steps=70)
    assert to_plain(rate, SCHEDULES) == {
        "name": "decay",
        "value": 0.1,
        "end": 0.0,
        "share": 0.3,
        "steps": 70,
    }
    for step in range(80):
        passed = min(1.0, max(0.0, (step - (70 - 0.3 * 70)) / (0.3 * 70)))
        assert rate.at(step) == 0.1 * (0.5 + 0.5 * math.cos(math.pi * passed))
    early = Decay(value=0.1, until=0.7)
    assert to_plain(early, SCHEDULES)["until"] == 0.7
    assert from_plain(to_plain(early, SCHEDULES), SCHEDULES) == early


@pytest.mark.parametrize(
    "options",
    [
        {"share": 0.0},
        {"share": 1.5},
        {"steps": 0},
        {"until": 1.5, "share": 0.5},
        {"until": 0.2, "share": 0.3},
    ],
)
def test_impossible_decays_are_refused(options):
    with pytest.raises(ValueError, match=refusal_of(options)):
        Decay(value=1.0, **options)
