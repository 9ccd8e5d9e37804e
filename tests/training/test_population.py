import dataclasses

import pytest
import torch

from unbraid.data import XYSquares
from unbraid.foundation import CheckpointFormatError, TrainingDivergedError
from unbraid.models.objectives import BetaVAE, FactorVAE
from unbraid.training import (
    Change,
    TrainingSpec,
    join_segments,
    read_tensors,
    specify,
    train_run,
    train_segment,
)
from unbraid.training.loggers import AbstractLogger

DATA = XYSquares(image_size=8, square_size=1, n_squares=1)


def settings(objective="beta_vae", **changes):
    base = {"steps": 13, "n_latents": 2, "batch_size": 8, "learning_rate": 1e-3}
    return specify(objective, DATA, **(base | changes))


def later(spec, **changes):
    return dataclasses.replace(spec, **changes)


def go(spec, start, out):
    return train_segment(spec, DATA, start=start, out=out, population="p")


def same_weights(a, b):
    return all(map(torch.equal, a.state_dict().values(), b.state_dict().values()))


def states(optimizer):
    """What it remembers of each parameter, in their order."""
    return [optimizer.state[p] for p in optimizer.param_groups[0]["params"]]


@pytest.mark.parametrize("objective", ["beta_vae", "factor_vae", "beta_tc_vae"])
def test_segments_and_the_run_that_joins_them_are_equal(tmp_path, objective):
    first = settings(objective, seed=3)
    second = later(first, steps=30, batch_size=5, learning_rate=4e-3, seed=9)
    go(first, None, tmp_path / "1")
    state = go(second, tmp_path / "1", tmp_path / "2")
    run = train_run(join_segments([first, second]), DATA, device="cpu", progress=False)
    assert same_weights(run.model, state.model)


def test_learning_rate_of_a_segment_is_in_the_optimizer(tmp_path):
    first = settings()
    go(first, None, tmp_path / "1")
    state = go(
        later(first, steps=20, learning_rate=0.02), tmp_path / "1", tmp_path / "2"
    )
    assert state.optimizer.param_groups[0]["lr"] == 0.02
    _, about = read_tensors(tmp_path / "2", kind="training state")
    assert about["optimisers"]["optimiser"]["groups"][0]["lr"] == 0.02


def test_strength_and_batch_of_a_segment_are_in_the_loss(tmp_path, monkeypatch):
    seen = []
    plain_loss = BetaVAE.loss

    def spy(self, model, batch, context):
        loss = plain_loss(self, model, batch, context)
        weight = (loss.total - loss.terms["reconstruction"]) / loss.terms["kl"]
        seen.append((round(float(weight.detach()), 1), len(batch.images)))
        return loss

    monkeypatch.setattr(BetaVAE, "loss", spy)
    first = settings(BetaVAE(beta=2.0), steps=3)
    go(first, None, tmp_path / "1")
    second = later(first, steps=5, objective=BetaVAE(beta=7.0), batch_size=6)
    go(second, tmp_path / "1", tmp_path / "2")
    assert seen == [(2.0, 8)] * 3 + [(7.0, 6)] * 2


def test_averages_of_the_optimizer_go_along(tmp_path):
    first = settings()
    before = go(first, None, tmp_path / "1")
    second = later(first, steps=14, learning_rate=1e-12)
    after = go(second, tmp_path / "1", tmp_path / "2")
    # Adam's own count of steps goes on, and so do its averages.
    for old, new in zip(states(before.optimizer), states(after.optimizer), strict=True):
        assert int(new["step"]) == int(old["step"]) + 1 == 14
        assert torch.all(new["exp_avg_sq"] >= 0.99 * old["exp_avg_sq"])


def test_an_adversary_goes_along(tmp_path):
    first = settings(FactorVAE(discriminator_width=8, discriminator_depth=2))
    before = go(first, None, tmp_path / "1")
    after = go(later(first, steps=14), tmp_path / "1", tmp_path / "2")
    old, new = before.adversary_optimizer, after.adversary_optimizer
    steps = [int(values["step"]) for values in states(new)]
    assert steps == [int(values["step"]) + 1 for values in states(old)]


def test_a_state_of_another_population_is_refused(tmp_path):
    spec = settings()
    go(spec, None, tmp_path / "1")
    with pytest.raises(CheckpointFormatError, match="other settings or data"):
        train_segment(
            later(spec, steps=20),
            DATA,
            start=tmp_path / "1",
            out=tmp_path / "2",
            population="q",
        )


def test_a_segment_that_diverges_leaves_no_state(tmp_path):
    with pytest.raises(TrainingDivergedError):
        go(settings(learning_rate=1e25), None, tmp_path / "1")
    assert not (tmp_path / "1").exists()


def test_changes_are_written_and_read():
    spec = settings(steps=30)
    changed = later(
        spec,
        changes=(
            Change(at=10, objective=BetaVAE(), batch_size=4, learning_rate=0.1, seed=1),
        ),
    )
    assert TrainingSpec.from_plain(changed.to_plain()) == changed
    assert "changes" not in spec.to_plain()


@pytest.mark.parametrize("steps", [[0], [30], [10, 10], [20, 10]])
def test_changes_must_come_in_order_and_within_the_run(steps):
    changes = tuple(
        Change(at=at, objective=BetaVAE(), batch_size=4, learning_rate=0.1, seed=0)
        for at in steps
    )
    with pytest.raises(ValueError, match="steps of changes must be increasing"):
        later(settings(steps=30), changes=changes)


class StopHere(Exception):
    pass


class Breaker(AbstractLogger):
    def __init__(self, step):
        self._step = step

    def start(self, settings, *, step, folder):
        del settings, step, folder

    def log(self, record):
        if record["step"] == self._step:
            raise StopHere


def test_a_run_with_changes_can_be_interrupted_anywhere(tmp_path):
    first = settings(steps=10)
    whole = join_segments([first, later(first, steps=25, seed=1, learning_rate=0.01)])
    expected = train_run(whole, DATA, device="cpu", progress=False).model
    for stop in (7, 10, 19):
        folder = tmp_path / str(stop)
        options = {"device": "cpu", "progress": False, "out": folder, "log_every": 1}
        with pytest.raises(StopHere):
            train_run(whole, DATA, loggers=[Breaker(stop)], save_every=1, **options)
        assert same_weights(train_run(whole, DATA, **options).model, expected)
