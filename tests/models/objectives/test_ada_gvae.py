import math

import pytest
import torch
from companions import batch_of, context, seeded, tiny_model

from unbraid.foundation import to_plain
from unbraid.models import RECORDS, Linear
from unbraid.models.objectives import AdaGVAE, AdaMLVAE, BetaVAE


def transcribed(model, batch, beta, divergence, generator, *, eta=0.5, shared_by="kl"):
    """The loss of the paper, image by image and latent by latent.

    Other thresholds and differences are those of the dissertation, Table 5.1.
    """
    images = [batch.images, batch.partner_images[0]]
    posteriors = [model.encode(each) for each in images]
    size, n_latents = posteriors[0].mean.shape
    means = [p.mean.tolist() for p in posteriors]
    variances = [p.variance.tolist() for p in posteriors]
    for row in range(size):
        deltas = []
        for i in range(n_latents):
            m1, m2 = means[0][row][i], means[1][row][i]
            v1, v2 = variances[0][row][i], variances[1][row][i]
            there = 0.5 * (v1 / v2 + (m1 - m2) ** 2 / v2 - 1 + math.log(v2 / v1))
            back = 0.5 * (v2 / v1 + (m1 - m2) ** 2 / v1 - 1 + math.log(v1 / v2))
            if shared_by == "distance":
                deltas.append(abs(m1 - m2))
            else:
                both = (there + back) / 2
                deltas.append(there if divergence == "one_sided" else both)
        threshold = (1 - eta) * min(deltas) + eta * max(deltas)
        for i in range(n_latents):
            if deltas[i] < threshold:
                mean = (means[0][row][i] + means[1][row][i]) / 2
                variance = (variances[0][row][i] + variances[1][row][i]) / 2
                for k in range(2):
                    means[k][row][i], variances[k][row][i] = mean, variance
    noise = torch.empty(2 * size, n_latents).double().normal_(generator=generator)
    total = 0.0
    for k in range(2):
        mean, variance = torch.tensor(means[k]), torch.tensor(variances[k])
        mean, variance = mean.double(), variance.double()
        codes = mean + variance.sqrt() * noise[k * size : (k + 1) * size]
        error = (model.decoder(codes) - images[k]).square().sum(dim=1)
        kl = 0.5 * (mean**2 + variance - variance.log() - 1).sum(dim=1)
        total += 0.5 * float((error + beta * kl).mean())
    return total


@pytest.mark.parametrize("divergence", ["symmetric", "one_sided"])
def test_loss_is_the_transcribed_one(divergence):
    model, batch = tiny_model(), batch_of(2)
    objective = AdaGVAE(beta=3.0, divergence=divergence)
    loss = objective.loss(model, batch, context())
    with torch.no_grad():
        expected = transcribed(model, batch, 3.0, divergence, seeded())
    assert loss.total.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("shared_by", ["kl", "distance"])
@pytest.mark.parametrize("eta", [0.1, 0.3, 0.9])
def test_threshold_and_difference_are_those_of_table_5_1(shared_by, eta):
    model, batch = tiny_model(n_latents=5), batch_of(2, size=16)
    objective = AdaGVAE(beta=3.0, eta=eta, shared_by=shared_by)
    loss = objective.loss(model, batch, context())
    with torch.no_grad():
        settings = {"eta": eta, "shared_by": shared_by}
        expected = transcribed(model, batch, 3.0, "symmetric", seeded(), **settings)
        original = transcribed(model, batch, 3.0, "symmetric", seeded())
    assert loss.total.item() == pytest.approx(expected, rel=1e-6)
    assert expected != pytest.approx(original, rel=1e-6)


def test_divergence_per_latent_sums_to_the_divergence():
    loss = AdaGVAE().loss(tiny_model(), batch_of(2), context())
    assert loss.kl_per_latent.sum().item() == pytest.approx(loss.terms["kl"].item())


@pytest.mark.parametrize("kind", [AdaGVAE, AdaMLVAE])
def test_strength_zero_shares_nothing_and_is_the_beta_vae_of_both_images(kind):
    model, batch = tiny_model(), batch_of(2)
    joined = type(batch)(images=torch.cat([batch.images, *batch.partner_images]))
    loss = kind(beta=2.0, eta=0.0).loss(model, batch, context())
    expected = BetaVAE(beta=2.0).loss(model, joined, context())
    assert loss.total.item() == pytest.approx(expected.total.item())


@pytest.mark.parametrize("kind", [AdaGVAE, AdaMLVAE])
def test_strength_follows_its_schedule(kind):
    model, batch = tiny_model(), batch_of(2)
    rising = kind(shared_by="distance", eta=Linear(start=0.0, end=0.5)).over(100)
    for step, eta in ((0, 0.0), (60, 0.3), (100, 0.5)):
        fixed = kind(shared_by="distance", eta=eta)
        loss = rising.loss(model, batch, context(step))
        assert loss.total.item() == fixed.loss(model, batch, context()).total.item()


@pytest.mark.parametrize("kind", [AdaGVAE, AdaMLVAE])
def test_published_settings_are_written_as_before(kind):
    before = {"scale", "n_changed", "pair_rule", "beta", "divergence", "name"}
    assert to_plain(kind(), RECORDS).keys() == before
    changed = to_plain(kind(eta=0.2, shared_by="distance"), RECORDS)
    assert (changed["eta"], changed["shared_by"]) == (0.2, "distance")


def test_gradients_reach_every_parameter():
    model = tiny_model()
    AdaGVAE().loss(model, batch_of(2), context()).total.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())


def test_a_batch_without_companions_is_refused():
    with pytest.raises(ValueError, match="AdaGVAE needs groups of 2 images, got 1"):
        AdaGVAE().loss(tiny_model(), batch_of(1), context())


def test_an_unknown_divergence_is_refused():
    with pytest.raises(ValueError, match="^divergence must .* got 'both'"):
        AdaGVAE(divergence="both")


def test_settings_out_of_range_are_refused():
    with pytest.raises(ValueError, match="eta must be between 0 and 1, got 1.5"):
        AdaGVAE(eta=1.5)
    with pytest.raises(ValueError, match="shared_by must be 'distance' or 'kl', got"):
        AdaMLVAE(shared_by="mean")
