"""Learned features: what they gain over a kernel, on any labels, and against them."""

import numpy as np
import pytest
import torch

import unbraid
from unbraid.data import (
    Discs,
    LabeledImages,
    Subset,
    XYObject,
    XYSquares,
    keep_labels,
)
from unbraid.models import FeatureAugmented, Gaussian, load_likelihood, save_likelihood
from unbraid.models.objectives import BetaVAE
from unbraid.perception import learn_features, learn_loss, perceived_distances

OBJECT = XYObject(image_size=16, square_sizes=(3, 4, 5))
SPACED = XYSquares(image_size=8, square_size=2, spacing=1, n_squares=1, rgb=False)
PAIRS = XYSquares(image_size=8, square_size=2, n_squares=2, rgb=False)
QUICK = {"steps": 60, "batch_size": 24, "n_filters": 8}


def mean_rank(found):
    return np.mean([row.rank for row in found.factors])


@pytest.fixture(scope="module")
def learned():
    return learn_features(OBJECT, steps=100, batch_size=48)


@pytest.fixture(scope="module")
def hindering():
    options = {**QUICK, "batch_size": 32, "steps": 100}
    return learn_features(SPACED, direction="hinder", **options).likelihood


def test_features_follow_colors_and_sizes_which_no_kernel_does(learned):
    kernel = learn_loss(OBJECT, steps=60, batch_size=48).likelihood
    pixels, blurred, features = (
        perceived_distances(OBJECT, loss, n_pairs=1_000)
        for loss in ("mse", kernel, learned.likelihood)
    )
    assert mean_rank(features) > mean_rank(blurred) + 0.1 > mean_rank(pixels) + 0.1
    assert features["color"].rank > blurred["color"].rank + 0.1
    assert learned.correlations[-10:].mean() > learned.correlations[:5].mean() + 0.2


def test_what_is_trained_is_what_the_likelihood_measures():
    start = learn_features(SPACED, steps=1, learning_rate=0.0, n_filters=4)
    likelihood = start.likelihood
    rows = np.arange(len(SPACED))
    images = torch.from_numpy(SPACED.images(rows)) / 255
    points = [images.flatten(1), likelihood.features(images).flatten(1)]
    pixels, features = (torch.cdist(each, each).square().mean() for each in points)
    # The features are on average as far apart as the pixels, times the weight.
    assert likelihood.weight == 8.0
    assert (features / pixels).item() == pytest.approx(1.0, rel=0.1)
    found = perceived_distances(SPACED, likelihood, n_pairs=500)
    plain = perceived_distances(SPACED, likelihood.distance, n_pairs=500)
    assert found.random.mean == pytest.approx(plain.random.mean)
    assert found.random.rank == pytest.approx(plain.random.rank)


def test_learned_features_are_saved_and_train_a_model_on_other_data(learned, tmp_path):
    path = save_likelihood(learned.likelihood, tmp_path / "loss.json")
    assert load_likelihood(path) == learned.likelihood
    other = LabeledImages(np.random.default_rng(0).random((9, 16, 16, 3)))
    options = {"steps": 2, "n_latents": 2, "network": "dense", "progress": False}
    run = unbraid.fit("vae", other, likelihood=str(path), out=tmp_path / "r", **options)
    assert isinstance(run.model.likelihood, FeatureAugmented)
    assert unbraid.load(tmp_path / "r").likelihood == learned.likelihood


@pytest.mark.parametrize("learn", [learn_loss, learn_features])
def test_rows_and_labels_may_be_missing(learn):
    generator = np.random.Generator(np.random.PCG64(0))
    every = np.arange(len(PAIRS))
    floats = np.asarray(PAIRS.factors(every), dtype=float)
    floats[generator.random(floats.shape) < 0.3] = np.nan
    partly = LabeledImages(PAIRS.images(every), floats + 0.5)
    some = Subset(PAIRS, generator.permutation(every)[:100])
    before = perceived_distances(PAIRS, "mse", n_pairs=1_000).random.rank
    for data in (some, keep_labels(PAIRS, n=100), partly):
        assert not data.is_grid
        likelihood = learn(data, steps=40, batch_size=32).likelihood
        after = perceived_distances(PAIRS, likelihood, n_pairs=1_000).random.rank
        assert after > before + 0.1


@pytest.mark.parametrize("learn", [learn_loss, learn_features])
def test_some_pairs_are_enough(learn):
    few, again, all_pairs = (
        learn(SPACED, steps=3, batch_size=16, n_pairs=n_pairs)
        for n_pairs in (20, 20, None)
    )
    assert few.likelihood == again.likelihood
    assert few.likelihood != all_pairs.likelihood
    with pytest.raises(ValueError, match="n_pairs must be a whole number of at least"):
        learn(SPACED, steps=3, n_pairs=1)


def test_labels_without_a_pair_in_common_are_refused():
    labels = np.full((8, 8), np.nan)
    np.fill_diagonal(labels, 1.0)
    labels[0, 1] = 2.0
    data = LabeledImages(np.random.default_rng(0).random((8, 8, 8)), labels)
    with pytest.raises(ValueError, match="No two pairs of 3 images have a common"):
        learn_features(data, steps=1, batch_size=3, n_filters=2)


def test_the_same_seed_gives_the_same_features():
    options = {"steps": 2, "batch_size": 8, "n_filters": 2}
    texts = [
        learn_features(SPACED, seed=seed, **options).likelihood.extractor
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_torchs_global_generator_is_left_alone():
    state = torch.get_rng_state()
    learn_features(SPACED, steps=1, batch_size=4, n_filters=2)
    assert torch.equal(state, torch.get_rng_state())


def test_adversaries_lower_the_correlation_below_that_of_pixels(hindering):
    plain = perceived_distances(SPACED, "mse", n_pairs=1_000)
    kernel = learn_loss(SPACED, direction="hinder", steps=150, batch_size=32)
    blurred = perceived_distances(SPACED, kernel.likelihood, n_pairs=1_000)
    assert blurred.random.rank < plain.random.rank - 0.2
    features = perceived_distances(SPACED, hindering, n_pairs=1_000)
    assert features.random.rank < plain.random.rank - 0.5
    assert mean_rank(features) < mean_rank(plain) - 0.2


def test_a_model_trained_with_the_adversary_scores_lower(hindering):
    scores = []
    helping = learn_features(SPACED, **QUICK).likelihood
    for likelihood in (Gaussian(), helping, hindering):
        run = unbraid.fit(
            BetaVAE(beta=0.05),
            SPACED,
            likelihood=likelihood,
            steps=300,
            batch_size=32,
            n_latents=3,
            learning_rate=2e-3,
            network="dense",
            progress=False,
        )
        card = unbraid.evaluate(
            run.model,
            SPACED,
            metrics=["distance_correlation"],
            intervals=False,
            levels=False,
            progress=False,
        )
        scores.append(float(card["distance_correlation"]))
    plain, helped, hindered = scores
    assert hindered < min(plain, helped) - 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_filters": 0}, "n_filters must be at least 1, got 0"),
        ({"weight": 0.0}, "weight must be positive, got 0.0"),
        ({"steps": 0}, "steps must be a whole number of at least 1, got 0"),
        ({"direction": "worse"}, "direction must be 'help' or 'hinder', got 'worse'"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        learn_features(Discs(), **options)


def test_equal_images_are_refused():
    data = LabeledImages(np.zeros((9, 8, 8), np.uint8), np.arange(9))
    for learn in (learn_features, learn_loss):
        with pytest.raises(ValueError, match="needs images that differ"):
            learn(data)
