import numpy as np
import pytest
import torch

from unbraid.data import LabeledImages, Vectors, XYSquares
from unbraid.models import fit_fast_ica, fit_pca

SQUARES = XYSquares(image_size=8, square_size=2, n_squares=2)


def mixed_images():
    """Two independent, far from normal sources, mixed into six pixels."""
    generator = np.random.default_rng(0)
    sources = generator.random((2000, 2)) - 0.5
    mixing = np.array(
        [[1.0, 0.4, 0.2, 0.0, 0.3, -0.5], [0.3, -0.8, 0.1, 0.6, 0.0, 0.2]]
    )
    pixels = 0.5 + 0.35 * sources @ mixing
    images = (255 * pixels).round().astype(np.uint8).reshape(-1, 1, 2, 3)
    return LabeledImages(images, channels_first=True), sources


def pixels_of(dataset):
    images = dataset.images(np.arange(len(dataset)))
    return torch.from_numpy(images).float() / 255


@pytest.mark.parametrize("fit", [fit_pca, fit_fast_ica])
def test_codes_are_uncorrelated_with_variance_one(fit):
    dataset, _ = mixed_images()
    codes = fit(dataset, n_latents=2).encode(pixels_of(dataset)).mean
    covariance = np.cov(codes.numpy().T)
    np.testing.assert_allclose(covariance, np.eye(2), atol=2e-3)


def test_reconstruction_by_principal_components_is_the_best_of_their_number():
    pixels = pixels_of(SQUARES)
    model = fit_pca(SQUARES, n_latents=5)
    error = (model(pixels) - pixels).square().sum().item()
    centered = (pixels - pixels.mean(dim=0)).flatten(1).double()
    unexplained = torch.linalg.svdvals(centered)[5:].square().sum().item()
    assert error == pytest.approx(unexplained, rel=1e-4)


def test_independent_components_span_the_same_space():
    dataset, _ = mixed_images()
    pixels = pixels_of(dataset)
    pca = fit_pca(dataset, n_latents=2)
    ica = fit_fast_ica(dataset, n_latents=2)
    torch.testing.assert_close(ica(pixels), pca(pixels), atol=1e-4, rtol=0)


def test_independent_components_unmix_what_principal_ones_do_not():
    dataset, sources = mixed_images()

    def best_matches(model):
        codes = model.encode(pixels_of(dataset)).mean.numpy()
        correlations = np.corrcoef(codes.T, sources.T)[:2, 2:]
        return np.abs(correlations).max(axis=0)

    assert best_matches(fit_fast_ica(dataset, n_latents=2)).min() > 0.99
    assert best_matches(fit_pca(dataset, n_latents=2)).min() < 0.95


@pytest.mark.parametrize("fit", [fit_pca, fit_fast_ica])
def test_the_same_seed_gives_the_same_model(fit):
    first, second = (fit(SQUARES, n_latents=3, n_rows=100, seed=4) for _ in range(2))
    other = fit(SQUARES, n_latents=3, n_rows=100, seed=5)
    assert torch.equal(first.encoding, second.encoding)
    assert not torch.equal(first.encoding, other.encoding)


def test_components_that_do_not_vary_have_code_zero():
    images = np.zeros((20, 1, 2, 2), dtype=np.uint8)
    images[::2, 0, 0, 0] = 255
    dataset = LabeledImages(images, channels_first=True)
    model = fit_pca(dataset, n_latents=3)
    codes = model.encode(pixels_of(dataset)).mean
    assert codes[:, 0].abs().min() > 0.9
    assert codes[:, 1:].abs().max() == 0.0
    torch.testing.assert_close(model(pixels_of(dataset)), pixels_of(dataset))


def test_state_is_what_a_model_of_the_same_shape_can_load():
    model = fit_pca(SQUARES, n_latents=3)
    again = type(model)(model.image_shape, model.n_latents)
    again.load_state_dict(model.state_dict())
    images = again.sample(4, generator=torch.Generator().manual_seed(0))
    assert images.shape == (4, 3, 8, 8)
    assert torch.equal(again(images), model(images))


def test_vectors_are_taken_as_they_are():
    vectors = np.random.default_rng(0).normal(3.0, size=(50, 4)).astype(np.float32)
    model = fit_pca(Vectors(vectors), n_latents=4)
    codes = model.encode(torch.from_numpy(vectors)).mean.numpy()
    np.testing.assert_allclose(codes.mean(axis=0), np.zeros(4), atol=1e-4)
    np.testing.assert_allclose(np.cov(codes.T), np.eye(4), atol=1e-3)


def test_more_components_than_there_are_and_wrong_shapes_are_refused():
    with pytest.raises(
        ValueError, match="n_latents must be between 1 and 192, .* got 193"
    ):
        fit_pca(SQUARES, n_latents=193)
    model = fit_pca(SQUARES, n_latents=2)
    with pytest.raises(ValueError, match="images must have shape"):
        model.encode(torch.zeros(1, 3, 4, 4))
    with pytest.raises(ValueError, match="codes must have shape"):
        model.decode(torch.zeros(1, 3))


@pytest.mark.parametrize("fit", [fit_pca, fit_fast_ica])
def test_some_rows_are_drawn_by_the_seed(fit):
    dataset, _ = mixed_images()
    models = [fit(dataset, n_latents=2, n_rows=100, seed=seed) for seed in (1, 1, 2)]
    centres = [model.centre for model in (*models, fit(dataset, n_latents=2))]
    assert torch.equal(centres[0], centres[1])
    assert not torch.equal(centres[0], centres[2])
    assert not torch.equal(centres[0], centres[3])
