import math

import numpy as np
import pytest
import torch
from companions import batch_of, context, seeded, tiny_model

from unbraid.data import LabeledImages, Triplets
from unbraid.foundation import to_plain
from unbraid.models import RECORDS
from unbraid.models.objectives import TAE, TVAE, AdaTAE, AdaTVAE, BetaVAE
from unbraid.training import fit


def transcribed(model, batch, *, beta, alpha, margin, kind, p, generator):
    """Eq. 5.12 of the dissertation, in its scale, image by image."""
    triplet = [batch.images, *batch.partner_images]
    size, n_latents, n_pixels = len(batch.images), model.n_latents, 5
    noise = torch.empty(3 * size, n_latents).double().normal_(generator=generator)
    total = 0.0
    for row in range(size):
        means = []
        for k, images in enumerate(triplet):
            posterior = model.encode(images[row : row + 1])
            mean, variance = posterior.mean[0], posterior.variance[0]
            codes = mean + variance.sqrt() * noise[k * size + row]
            error = (model.decoder(codes[None])[0] - images[row]).square().sum()
            kl = 0.5 * (mean**2 + variance - variance.log() - 1).sum()
            total += float(error / n_pixels + beta * kl / n_latents) / 3
            means.append(mean.tolist())
        near, far = (
            sum(abs(a - b) ** p for a, b in zip(means[0], other, strict=True))
            ** (1 / p)
            for other in means[1:]
        )
        hard = max(0.0, margin + near - far)
        soft = math.log(1 + math.exp(near - far))
        total += alpha * (hard if kind == "hard" else soft)
    return total / size


@pytest.mark.parametrize("kind", ["hard", "soft"])
@pytest.mark.parametrize("p", [1, 1.25, 2, 3])
def test_loss_is_the_transcribed_one(kind, p):
    model, batch = tiny_model(), batch_of(3)
    objective = TVAE(beta=0.2, alpha=3.0, margin=0.1, margin_kind=kind, p=p)
    loss = objective.loss(model, batch, context())
    with torch.no_grad():
        expected = transcribed(
            model,
            batch,
            beta=0.2,
            alpha=3.0,
            margin=0.1,
            kind=kind,
            p=p,
            generator=seeded(),
        )
    assert loss.total.item() == pytest.approx(expected)


def test_without_weight_it_is_the_beta_vae_of_all_images():
    model, batch = tiny_model(), batch_of(3)
    joined = type(batch)(images=torch.cat([batch.images, *batch.partner_images]))
    loss = TVAE(alpha=0.0, beta=0.2).loss(model, batch, context())
    plain = BetaVAE(beta=0.2, scale="mean")
    expected = plain.loss(model, joined, context())
    assert loss.total.item() == pytest.approx(expected.total.item())


def test_it_is_the_adaptive_one_with_a_shared_weight_of_one():
    model, batch = tiny_model(), batch_of(3)
    plain = TVAE().loss(model, batch, context())
    adaptive = AdaTVAE(omega=1.0).loss(model, batch, context())
    assert plain.total.item() == adaptive.total.item()


def test_scale_leaves_the_triplet_loss_as_it_is():
    model, batch = tiny_model(), batch_of(3)
    loss = TVAE(scale="sum").loss(model, batch, context())
    terms = loss.terms
    expected = terms["reconstruction"] + 0.01 * terms["kl"] + terms["triplet"]
    assert loss.total.item() == pytest.approx(expected.item())


def test_without_the_decoders_gradient_and_prior_triplets_alone_teach_the_encoder():
    model, batch = tiny_model(), batch_of(3)
    objective = TVAE(beta=0.0, alpha=2.0, decoder_gradient=False)
    loss = objective.loss(model, batch, context())
    parameters = list(model.encoder.parameters())
    total = torch.autograd.grad(loss.total, parameters, retain_graph=True)
    triplet = torch.autograd.grad(loss.terms["triplet"], parameters)
    for mine, expected in zip(total, triplet, strict=True):
        torch.testing.assert_close(mine, 2.0 * expected)


@pytest.mark.parametrize("kind", [TVAE, TAE, AdaTVAE, AdaTAE])
def test_triplets_by_category_and_on_circles_have_their_sampler(kind):
    by_class = kind(triplets="category", category="shape")
    assert by_class.sampler() == Triplets(distance="category", category="shape")
    around = kind(triplets="l1", cyclic="circle")
    assert around.sampler() == Triplets(distance="l1", cyclic="circle")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"triplets": "category"}, "category must be given if and only if"),
        ({"category": "shape"}, "category must be given if and only if"),
        ({"triplets": "perceived", "category": "shape"}, "triplets is 'perceived'"),
        ({"triplets": "perceived", "cyclic": "circle"}, "triplets is 'perceived'"),
        ({"cyclic": "ring"}, "cyclic must be 'line' or 'circle', got 'ring'"),
        ({"decoder": "no"}, "decoder must be True or False, got 'no'"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TVAE(**options)


def test_published_settings_are_written_as_before():
    plain = to_plain(AdaTVAE(), RECORDS)
    assert not {"category", "cyclic", "decoder"} & plain.keys()
    assert plain["p"] == 1
    # The same setting must have the same hash.
    assert repr(to_plain(AdaTVAE(p=2.0), RECORDS)["p"]) == "2"
    assert to_plain(TVAE(p=1.5), RECORDS)["p"] == 1.5


def clock_images(size=12):
    """A bright pixel on a line, and one in the corner if the class is 1."""
    images = np.zeros((2 * size, 1, 8, 16), np.uint8)
    hours, classes = np.repeat(np.arange(size), 2), np.tile([0, 1], size)
    images[np.arange(2 * size), 0, 4, hours] = 255
    images[:, 0, 0, 0] = 255 * classes
    factors = np.stack([hours, classes], axis=1)
    return LabeledImages(
        images,
        factors,
        factor_names=("hour", "class"),
        factor_kinds={"hour": "cyclic", "class": "categorical"},
    )


def distances_of(run, dataset):
    """Mean distance of codes of the same class, and of different classes."""
    with torch.no_grad():
        images = torch.from_numpy(dataset.images(np.arange(len(dataset)))) / 255
        codes = run.model.encode(images).mean
    apart = torch.cdist(codes, codes, p=1).numpy()
    classes = dataset.factors(np.arange(len(dataset)))[:, 1]
    is_same = classes[:, None] == classes
    return apart[is_same].mean(), apart[~is_same].mean()


def test_fit_separates_the_classes_of_a_category():
    data = clock_images()
    settings = {"steps": 60, "n_latents": 2, "batch_size": 16, "network": "dense"}
    objective = TAE(triplets="category", category="class", decoder=False, margin=1.0)
    run = fit(objective, data, learning_rate=1e-3, progress=False, **settings)
    within, between = distances_of(run, data)
    assert between > 3 * within


def test_fit_orders_triplets_around_the_circle():
    data = clock_images()
    settings = {"steps": 2, "n_latents": 2, "batch_size": 16, "network": "dense"}
    runs = {
        cyclic: fit(TAE(triplets="l1", cyclic=cyclic), data, progress=False, **settings)
        for cyclic in ("line", "circle")
    }
    terms = {name: run.history[-1]["triplet"] for name, run in runs.items()}
    assert terms["line"] != terms["circle"]
