import pickle

import joblib
import numpy as np
import pytest
import torch
from PIL import Image
from scipy.stats import laplace, multivariate_normal, norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch.utils.data import DataLoader

from unbraid import Disentangler, evaluate
from unbraid.data import TorchDataset, XYSquares
from unbraid.foundation import CheckpointFormatError, count_jobs
from unbraid.models import Autoencoder, Gaussian, Laplace
from unbraid.models.networks import Dense
from unbraid.models.objectives import VAE, BetaVAE
from unbraid.training import TrainingSettings

SQUARES = XYSquares(image_size=8, square_size=1, n_squares=1)
IMAGES = SQUARES.images(np.arange(64))
VECTORS = np.random.default_rng(0).normal(size=(40, 5))


def small(**options):
    settings = {"n_latents": 2, "steps": 3, "batch_size": 4, "device": "cpu"}
    return Disentangler(**settings | options)


@parametrize_with_checks([small()])
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "data",
    [
        SQUARES,
        IMAGES,
        IMAGES.transpose(0, 2, 3, 1),
        IMAGES / 255.0,
        torch.from_numpy(IMAGES),
        DataLoader(TorchDataset(SQUARES), 10),
        "xy_squares:image_size=8,square_size=1,n_squares=1",
    ],
    ids=["dataset", "nchw", "nhwc", "floats", "tensor", "loader", "name"],
)
def test_all_kinds_of_images_give_the_same_codes(data):
    codes = small().fit(data).transform(data)
    expected = small().fit(SQUARES).transform(SQUARES)
    assert codes.shape == (64, 2)
    assert np.array_equal(codes, expected)


def test_a_folder_of_pictures_is_data(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    (tmp_path / "pictures").mkdir()
    for number, image in enumerate(IMAGES[:5]):
        picture = Image.fromarray(image.transpose(1, 2, 0)).resize((16, 16))
        picture.save(tmp_path / "pictures" / f"{number}.png")
    codes = small().fit_transform(tmp_path / "pictures")
    assert codes.shape == (5, 2)


def test_codes_are_decoded_to_the_shape_of_the_data():
    estimator = small().fit(IMAGES)
    images = estimator.inverse_transform(estimator.transform(IMAGES))
    assert images.shape == IMAGES.shape
    assert images.min() >= 0
    assert images.max() <= 1
    vectors = small().fit(VECTORS)
    assert vectors.inverse_transform(np.zeros((3, 2))).shape == (3, 5)


def test_scores_are_bounds_that_training_raises():
    untrained = small(steps=1).fit(IMAGES)
    trained = small(steps=200, learning_rate=1e-2, objective=VAE()).fit(IMAGES)
    scores = trained.score_samples(IMAGES)
    assert scores.shape == (64,)
    assert scores.max() < 0
    assert trained.score(IMAGES) == pytest.approx(scores.mean())
    assert trained.score(IMAGES) > untrained.score(IMAGES)


def test_a_plain_autoencoder_scores_by_its_likelihood():
    estimator = small(objective="ae").fit(VECTORS)
    back = estimator.inverse_transform(estimator.transform(VECTORS))
    expected = norm(back, np.sqrt(0.5)).logpdf(VECTORS).sum(axis=1)
    assert estimator.score_samples(VECTORS) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(
    ("likelihood", "density"),
    [
        (Gaussian(variance=0.3), norm(0, np.sqrt(0.3))),
        (Laplace(scale=0.3), laplace(0, 0.3)),
    ],
)
def test_scores_of_codes_that_say_nothing_are_the_density_of_the_noise(
    likelihood, density, standardize
):
    data = VECTORS * [1, 2, 3, 4, 5] + 7
    estimator = small(likelihood=likelihood, standardize=standardize).fit(data)
    for weight in estimator.model_.parameters():
        torch.nn.init.zeros_(weight)
    mean, std = (data.mean(axis=0), data.std(axis=0)) if standardize else (0.0, 1.0)
    expected = density.logpdf((data - mean) / std) - np.log(std)
    assert estimator.score_samples(data) == pytest.approx(expected.sum(1), rel=1e-4)


def test_scores_of_a_linear_model_with_its_true_posterior_are_its_evidence(monkeypatch):
    """Where the bound is tight: p(x) is normal with covariance w w' + variance."""
    monkeypatch.setattr("unbraid.estimators._DRAWS", 5000)
    weights, variance = np.array([0.5, -1.0, 0.2, 0.0, 0.7]), 4.0
    estimator = small(
        n_latents=1,
        likelihood=Gaussian(variance=variance),
        network=Dense(widths=()),
        objective="vae",
    ).fit(VECTORS)
    precision = 1.0 + weights @ weights / variance
    encoder, decoder = estimator.model_.encoder[1], estimator.model_.decoder[0]
    with torch.no_grad():
        for layer in (encoder, decoder):
            layer.weight.zero_()
            layer.bias.zero_()
        decoder.weight[:, 0] = torch.from_numpy(weights)
        encoder.weight[0] = torch.from_numpy(weights / variance / precision)
        encoder.bias[1] = -np.log(precision)
    covariance = np.outer(weights, weights) + variance * np.eye(5)
    evidence = multivariate_normal(np.zeros(5), covariance).logpdf(VECTORS)
    scores = estimator.score_samples(VECTORS)
    assert scores == pytest.approx(evidence, abs=0.03)


def test_it_can_be_cloned_searched_and_put_in_a_pipeline():
    estimator = small(options={"beta": 2.0})
    assert clone(estimator).get_params() == estimator.get_params()
    assert estimator.fit(VECTORS).run_.spec.objective == BetaVAE(beta=2.0)
    labels = VECTORS[:, 0] > 0
    pipeline = make_pipeline(StandardScaler(), small(), LogisticRegression())
    assert pipeline.fit(VECTORS, labels).predict(VECTORS).shape == (40,)
    search = GridSearchCV(small(), {"n_latents": [1, 2]}, cv=2).fit(VECTORS)
    assert search.best_params_["n_latents"] in (1, 2)


def test_defaults_are_those_of_the_training_settings():
    params = Disentangler().get_params()
    params["seed"] = params["random_state"]
    shared = params.keys() & TrainingSettings.model_fields.keys()
    assert {"steps", "batch_size", "n_latents", "network", "seed"} <= shared
    for name in shared:
        assert params[name] == TrainingSettings.model_fields[name].default, name


def test_single_hyperparameters_and_other_settings_are_parameters():
    estimator = small(beta=2.0, optimizer="SGD", log_every=1)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert copy.get_params()["beta"] == 2.0
    assert "beta=2.0" in repr(copy)
    spec = copy.set_params(beta=3.0, n_latents=1).fit(VECTORS).run_.spec
    assert (spec.objective, spec.n_latents) == (BetaVAE(beta=3.0), 1)
    assert spec.optimizer == "SGD"
    assert estimator.get_params()["beta"] == 2.0
    again = pickle.loads(pickle.dumps(copy))
    assert again.get_params() == copy.get_params()
    search = GridSearchCV(small(), {"beta": [1.0, 2.0]}, cv=2).fit(VECTORS)
    objective = search.best_estimator_.run_.spec.objective
    assert objective == BetaVAE(beta=search.best_params_["beta"])


def test_the_random_state_is_a_seed_a_generator_or_none():
    assert small(random_state=7).fit(VECTORS).run_.spec.seed == 7
    seeds = [
        small(random_state=np.random.RandomState(3)).fit(VECTORS).run_.spec.seed
        for _ in range(2)
    ]
    assert seeds[0] == seeds[1]
    assert small(random_state=None).fit(VECTORS).run_.spec.seed >= 0


def test_a_search_with_a_folder_is_refused_from_the_second_run_on(tmp_path):
    search = GridSearchCV(
        small(out=tmp_path / "run"), {"n_latents": [1, 2]}, cv=2, error_score="raise"
    )
    with pytest.raises(CheckpointFormatError, match="belongs to a run with another"):
        search.fit(VECTORS)


@pytest.mark.parametrize(("n_jobs", "n_threads"), [(None, 1), (1, 1), (2, 2)])
def test_it_uses_as_many_threads_as_it_is_told(monkeypatch, n_jobs, n_threads):
    seen, encode = set(), Autoencoder.encode

    def watch(*arguments):
        seen.add(torch.get_num_threads())
        return encode(*arguments)

    monkeypatch.setattr(Autoencoder, "encode", watch)
    former = torch.get_num_threads()
    estimator = small(n_jobs=n_jobs).fit(IMAGES)
    estimator.transform(IMAGES)
    estimator.score(IMAGES)
    assert seen == {n_threads}
    assert torch.get_num_threads() == former
    assert estimator.get_params()["n_jobs"] == n_jobs


def test_n_jobs_counts_as_in_scikit_learn():
    with joblib.parallel_config("loky", n_jobs=3):
        assert count_jobs(None) == 3
    assert count_jobs(-1) == joblib.cpu_count()
    with pytest.raises(ValueError, match=r"^n_jobs must not be 0\. Use -1 for all"):
        small(n_jobs=0).fit(IMAGES)
    with pytest.raises(ValueError, match=r"^n_jobs must be an integer, got 'all'\.$"):
        evaluate(VECTORS, VECTORS, metrics="mig", n_jobs="all")


def test_codes_have_names_and_may_be_tables():
    estimator = small().fit(VECTORS)
    names = ["disentangler0", "disentangler1"]
    assert estimator.get_feature_names_out().tolist() == names
    table = estimator.set_output(transform="pandas").transform(VECTORS)
    assert (list(table.columns), table.shape) == (names, (40, 2))
    assert small().fit(IMAGES).get_feature_names_out().tolist() == names


def test_a_fitted_one_survives_pickling():
    estimator = small().fit(VECTORS)
    again = pickle.loads(pickle.dumps(estimator))
    assert np.array_equal(again.transform(VECTORS), estimator.transform(VECTORS))


def test_wrong_use_is_refused():
    with pytest.raises(NotFittedError):
        small().transform(VECTORS)
    with pytest.raises(ValueError, match="options only with the name of an objective"):
        small(objective=VAE(), options={"beta": 1.0}).fit(VECTORS)
    with pytest.raises(ValueError, match="options only with the name of an objective"):
        small(objective=BetaVAE(), beta=1.0).fit(VECTORS)
    with pytest.raises(ValueError, match="has no option 'beta'. Its options are scale"):
        small(objective="vae", beta=1.0).fit(VECTORS)
    with pytest.raises(TypeError, match="'stepss'. Did you mean 'steps'"):
        small(stepss=1).fit(VECTORS)
    with pytest.raises(TypeError, match="'betta'. Did you mean 'beta'"):
        small().set_params(betta=1.0).fit(VECTORS)
    with pytest.raises(TypeError, match="'seed'. Use random_state"):
        small(seed=1).fit(VECTORS)
    with pytest.raises(ValueError, match="Did you mean 'beta_vae'"):
        small(objective="beta_vea").fit(VECTORS)
