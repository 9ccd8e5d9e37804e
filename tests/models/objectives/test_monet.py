import math

import numpy as np
import pytest
import torch

from unbraid.data import Batch, SpriteScenes
from unbraid.foundation import torch_generator
from unbraid.models import Bernoulli, Gaussian, build_model
from unbraid.models.networks import Dense, MONetComponents, UNet, divide_pixels
from unbraid.models.objectives import LossContext, MONet
from unbraid.training import fit, load, specify

SCENES = SpriteScenes(n_sprites=2, image_size=8)


def make_model(n_slots=3, per_slot=2, shape=(3, 8, 8)):
    return build_model(
        MONetComponents(n_slots=n_slots, n_filters=4),
        image_shape=shape,
        n_latents=n_slots * per_slot,
        likelihood=Gaussian(),
        seed=0,
    ).double()


def make_batch(n=3):
    images = torch.from_numpy(SCENES.images(range(n)) / 255)
    return Batch(images=images, factors=None, partner_images=(), partner_factors=())


def normal_density(value, mean, sigma):
    exponent = -((value - mean) ** 2) / (2 * sigma**2)
    return math.exp(exponent) / (sigma * math.sqrt(2 * math.pi))


def literal_loss(objective, model, images, generator):
    """Eq. 3, image by image, pixel by pixel, in plain numbers."""
    with torch.no_grad():
        masks = model.encoder.attend(images).exp()
        posterior = model.encode(images)
        codes = posterior.sample(generator=generator)
        drawn, logits = model.decoder.draw_slots(codes)
    n, n_slots, n_channels, height, width = drawn.shape
    likelihood = kl = mask_kl = 0.0
    for i in range(n):
        for row in range(height):
            for column in range(width):
                mixture = 0.0
                odds = [math.exp(logits[i, k, row, column]) for k in range(n_slots)]
                for k in range(n_slots):
                    sigma = objective.first_sigma if k == 0 else objective.sigma
                    mask = masks[i, k, row, column].item()
                    density = mask
                    for c in range(n_channels):
                        density *= normal_density(
                            images[i, c, row, column].item(),
                            drawn[i, k, c, row, column].item(),
                            sigma,
                        )
                    mixture += density
                    mask_kl += mask * math.log(mask * sum(odds) / odds[k])
                likelihood += math.log(mixture)
        for mean, log_variance in zip(
            posterior.mean[i].tolist(), posterior.log_variance[i].tolist(), strict=True
        ):
            kl += (mean**2 + math.exp(log_variance) - log_variance - 1) / 2
    return -likelihood / n, kl / n, mask_kl / n


def test_the_loss_is_a_literal_transcription_of_the_formula():
    # Wide distributions, so that no density of an untrained model is zero.
    objective = MONet(beta=0.7, gamma=0.3, first_sigma=0.5, sigma=0.8)
    model, batch = make_model(), make_batch()
    context = LossContext(generator=torch_generator(0, "noise"))
    loss = objective.loss(model, batch, context)
    reconstruction, kl, mask_kl = literal_loss(
        objective, model, batch.images, torch_generator(0, "noise")
    )
    assert loss.terms["reconstruction"].item() == pytest.approx(reconstruction)
    assert loss.terms["kl"].item() == pytest.approx(kl)
    assert loss.terms["mask_kl"].item() == pytest.approx(mask_kl)
    expected = reconstruction + 0.7 * kl + 0.3 * mask_kl
    assert loss.total.item() == pytest.approx(expected)
    assert loss.kl_per_latent.sum().item() == pytest.approx(kl)


def test_the_mean_scale_divides_by_pixels_and_by_latents():
    model, batch = make_model(), make_batch()
    context = LossContext(generator=torch_generator(0, "noise"))
    loss = MONet(scale="mean", beta=2.0, gamma=3.0).loss(model, batch, context)
    terms = {name: term.item() for name, term in loss.terms.items()}
    per_pixel = (terms["reconstruction"] + 3 * terms["mask_kl"]) / (3 * 8 * 8)
    assert loss.total.item() == pytest.approx(per_pixel + 2 * terms["kl"] / 6)


def test_each_slot_takes_its_share_of_what_is_left():
    images = torch.zeros(2, 3, 8, 8, dtype=torch.double)
    scopes = []

    def attention(inputs):
        scopes.append(inputs[:, 3].exp())
        return torch.full((2, 8, 8), math.log(0.25 / 0.75), dtype=torch.double)

    masks = divide_pixels(images, attention, 4).exp()
    expected = [0.25, 0.75 * 0.25, 0.75**2 * 0.25, 0.75**3]
    assert masks[0, :, 3, 5].tolist() == pytest.approx(expected)
    assert [scope[0, 0, 0].item() for scope in scopes] == pytest.approx(
        [1, 0.75, 0.75**2]
    )


@pytest.mark.parametrize("shape", [(3, 8, 8), (1, 17, 12), (3, 32, 32)], ids=str)
def test_masks_add_up_to_one(shape):
    model = make_model(n_slots=4, shape=shape)
    images = torch.rand(5, *shape, generator=torch_generator(0), dtype=torch.double)
    masks = model.encoder.attend(images).exp()
    assert masks.shape == (5, 4, *shape[1:])
    torch.testing.assert_close(masks.sum(dim=1), torch.ones_like(masks[:, 0]))


def test_masks_stay_finite_when_the_attention_is_certain():
    images = torch.zeros(1, 3, 8, 8)
    log_masks = divide_pixels(images, lambda _: torch.full((1, 8, 8), 200.0), 4)
    assert log_masks.isfinite().all()
    assert log_masks.exp()[0, :, 0, 0].tolist() == pytest.approx([1, 0, 0, 0])


def test_the_model_decodes_the_mixture_of_its_slots():
    model = make_model()
    codes = torch.randn(2, 6, generator=torch_generator(0), dtype=torch.double)
    drawn, logits = model.decoder.draw_slots(codes)
    odds = logits.exp()
    expected = sum(
        odds[:, k, None] / odds.sum(dim=1)[:, None] * drawn[:, k] for k in range(3)
    )
    torch.testing.assert_close(model.decode(codes), expected)


def test_a_slot_is_drawn_from_its_own_part_of_the_code():
    model = make_model(n_slots=3, per_slot=2)
    codes = torch.zeros(1, 6, dtype=torch.double)
    changed = codes.clone()
    changed[0, 2:4] = 1.0
    before, after = (model.decoder.draw_slots(each)[0] for each in (codes, changed))
    is_same = [torch.equal(before[0, k], after[0, k]) for k in range(3)]
    assert is_same == [True, False, True]


def test_an_attention_of_odd_sides_keeps_them():
    assert UNet(4, (9, 21), 4)(torch.zeros(2, 4, 9, 21)).shape == (2, 9, 21)


def test_fit_chooses_network_and_likelihood_and_the_model_can_be_loaded(tmp_path):
    objective = MONet(n_slots=3, n_filters=4)
    run = fit(objective, SCENES, steps=3, n_latents=6, batch_size=4, out=tmp_path)
    assert run.spec.network == MONetComponents(n_slots=3, n_filters=4)
    assert run.spec.likelihood == Gaussian(variance=0.11**2)
    images = torch.from_numpy(SCENES.images([0, 1]) / np.float32(255))
    loaded = load(tmp_path)
    assert torch.equal(loaded.encode(images).mean, run.model.encode(images).mean)
    assert torch.equal(loaded.encoder.attend(images), run.model.encoder.attend(images))


def test_other_networks_are_refused():
    with pytest.raises(ValueError, match="MONet needs the network MONetComponents"):
        fit("monet", SCENES, steps=1, network=Dense())
    with pytest.raises(ValueError, match=r"multiple of n_slots=3, got 7"):
        fit(MONet(n_slots=3), SCENES, steps=1, n_latents=7)


def test_a_chosen_likelihood_is_kept():
    spec = specify("monet", SCENES, steps=1, likelihood="bernoulli")
    assert spec.likelihood == Bernoulli()
