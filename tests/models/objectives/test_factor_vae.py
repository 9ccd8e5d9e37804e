import dataclasses
import math

import pytest
import torch
from parameter_errors import refusal_of
from torch import nn

from unbraid.data import BatchStream, XYSquares
from unbraid.foundation import torch_generator
from unbraid.models.networks import Discriminator
from unbraid.models.objectives import VAE, FactorVAE, LossContext


@pytest.fixture
def adversary():
    generator = torch_generator(0, "weights")
    network = Discriminator(3, width=8, depth=2).double()
    with torch.no_grad():
        for weight in network.parameters():
            weight.normal_(generator=generator)
    return network


def adversary_loss(objective, model, adversary, batch):
    context = LossContext(generator=torch_generator(0, "noise"), extra=adversary)
    return objective.adversary_loss(model, batch, context).total


def test_at_gamma_zero_it_is_a_vae_exactly(compute, adversary):
    loss = compute(FactorVAE(gamma=0.0), extra=adversary)
    assert loss.total == compute(VAE()).total


def test_total_correlation_is_the_mean_log_odds_of_the_codes(
    compute, posterior, adversary
):
    codes = posterior.sample(generator=torch_generator(0, "noise"))
    chances = adversary(codes).softmax(dim=1)[:, 0]
    odds = (chances / (1.0 - chances)).log().mean()
    loss = compute(FactorVAE(gamma=20.0), extra=adversary)
    torch.testing.assert_close(loss.terms["total_correlation"], odds)
    torch.testing.assert_close(loss.total, compute(VAE()).total + 20.0 * odds)


def test_adversary_loss_is_the_cross_entropy_of_two_classes(model, batch, adversary):
    """By hand: half of -log D on codes, half of -log (1 - D) on shuffled ones."""
    generator = torch_generator(0, "noise")
    codes = model.encode(batch.images).sample(generator=generator)
    keys = torch.empty_like(codes).uniform_(generator=generator)
    shuffled = torch.stack(
        [codes[keys[:, j].argsort(), j] for j in range(codes.shape[1])], dim=1
    )
    real, fake = adversary(codes).softmax(1), adversary(shuffled).softmax(1)
    expected = -0.5 * (real[:, 0].log().mean() + fake[:, 1].log().mean())
    loss = adversary_loss(FactorVAE(), model, adversary, batch)
    torch.testing.assert_close(loss, expected)


def test_second_batch_is_what_is_shuffled(model, batch, adversary):
    objective = FactorVAE(permute="second batch")
    loss = adversary_loss(objective, model, adversary, batch)
    assert loss != adversary_loss(FactorVAE(), model, adversary, batch)
    same = dataclasses.replace(batch, partner_images=(batch.images + 1.0,))
    assert loss != adversary_loss(objective, model, adversary, same)
    assert objective.sampler().n_companions == 1
    assert FactorVAE().sampler().n_companions == 0


class Recorder(nn.Module):
    """Keeps what it is shown."""

    def forward(self, codes):
        self.seen = codes
        return torch.zeros(len(codes), 2, dtype=codes.dtype)


def test_shuffling_keeps_the_values_of_each_latent_and_breaks_rows_apart(model, batch):
    recorder = Recorder()
    adversary_loss(FactorVAE(), model, recorder, batch)
    codes, shuffled = recorder.seen.chunk(2)
    assert torch.equal(codes.sort(dim=0).values, shuffled.sort(dim=0).values)
    rows = {tuple(row) for row in codes.tolist()}
    assert not rows.issuperset(tuple(row) for row in shuffled.tolist())


def test_a_clueless_discriminator_has_the_entropy_of_a_coin(model, batch):
    loss = adversary_loss(FactorVAE(), model, Recorder(), batch)
    assert loss.item() == pytest.approx(math.log(2))


def test_discriminator_is_the_published_one():
    """10 * 1000 + 5 * 1000 * 1000 + 1000 * 2 weights, and 6 * 1000 + 2 biases."""
    network = FactorVAE().build_extra(_Sized())
    n = sum(weight.numel() for weight in network.parameters())
    assert n == 10_000 + 5_000_000 + 2_000 + 6_002


class _Sized:
    n_latents = 10


def test_adversary_is_taught_by_adam_with_its_own_settings(adversary):
    group = FactorVAE().adversary_optimizer(adversary).param_groups[0]
    assert (group["lr"], group["betas"]) == (1e-4, (0.5, 0.9))


def test_second_batches_are_independent_rows():
    squares = XYSquares(n_squares=1, image_size=8, square_size=1)
    sampler = FactorVAE(permute="second batch").sampler()
    rows = BatchStream(dataset=squares, size=4000, sampler=sampler).rows(0)
    table = torch.zeros(64, 64)
    table.index_put_(tuple(torch.from_numpy(rows.T)), torch.ones(()), accumulate=True)
    assert (table.sum(dim=0) > 0).all()
    # Equal rows come together as often as chance has it: 4000 / 64 times.
    assert 30 < table.diagonal().sum() < 100


@pytest.mark.parametrize(
    "options",
    [
        {"gamma": -1.0},
        {"permute": "batch"},
        {"discriminator_depth": 0},
        {"discriminator_width": 0},
        {"discriminator_betas": (0.5,)},
    ],
)
def test_impossible_settings_are_refused(options):
    with pytest.raises(ValueError, match=refusal_of(options)):
        FactorVAE(**options)
