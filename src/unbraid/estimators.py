"""Disentangler: training as a scikit-learn estimator."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import fields
from numbers import Integral
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data
from torch.utils.data import DataLoader

from unbraid.data import AbstractDataset, as_dataset, float_images
from unbraid.foundation import count_jobs, suggest, torch_generator
from unbraid.models import (
    AbstractLikelihood,
    DiagonalGaussian,
    Number,
    choose_objective,
)
from unbraid.models.networks import AbstractNetwork
from unbraid.models.objectives import OBJECTIVES, AbstractObjective
from unbraid.representation import encode
from unbraid.training import RecipeName, TrainingSettings, fit, torch_threads

_BATCH = 256
_DRAWS = 8


class Disentangler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Train an encoder with ``fit``, and use it with ``transform``.

    ``X`` may be an array of images (``uint8``, or floats from 0 to 1, channels first or
    last), an array of vectors ``(n, length)``, a dataset, a torch ``DataLoader`` (which
    is read into memory), or the path of a folder of pictures.

    Training settings are described in :func:`unbraid.fit`.

    Args:
        objective: Training objective, or its name.
        options: Hyperparameters of a named objective, such as ``{"beta": 8.0}``.
        n_latents: Number of latents.
        steps: Number of updates.
        batch_size: Number of images per update.
        network: Network, or its name.
        likelihood: Likelihood, or its name.
        standardize: Give every channel mean 0 and standard deviation 1.
        learning_rate: Learning rate, or a schedule such as ``Decay(value=1e-3)``.
        recipe: Name of a recipe.
        random_state: Seed, a ``RandomState``, or ``None`` for a different model every
            time.
        n_jobs: Threads on a CPU: -1 for one per core, ``None`` for 1, as in
            scikit-learn. For several models at once, give ``n_jobs`` to the search
            instead.
        device: Device to train on.
        out: Folder to keep the run in, from which an interrupted run continues. It
            holds one run: leave it out in a search over settings or folds.
        progress: Show a progress bar if the standard error is a terminal.
        more: Any other training setting, such as ``optimizer="SGD"``, and
            hyperparameters of a named objective, such as ``beta=8.0``. Both can be
            searched like any other parameter.

    Attributes:
        model_: The trained model.
        run_: The run that made it, with its history and warnings.
        n_features_in_: Length of the vectors, or the number of pixels.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> estimator = Disentangler("beta_vae", beta=2.0, n_latents=2, steps=5)
        >>> codes = estimator.fit_transform(squares)
        >>> codes.shape, estimator.inverse_transform(codes).shape
        ((64, 2), (64, 3, 8, 8))
    """

    def __init__(
        self,
        objective: AbstractObjective | str = "beta_vae",
        *,
        options: Mapping[str, Any] | None = None,
        n_latents: int = 10,
        steps: int = 10_000,
        batch_size: int = 64,
        network: AbstractNetwork | str = "auto",
        likelihood: AbstractLikelihood | str = "auto",
        standardize: bool = False,
        learning_rate: Number | None = None,
        recipe: RecipeName | None = None,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        device: str = "auto",
        out: str | os.PathLike[str] | None = None,
        progress: bool = False,
        **more: Any,
    ) -> None:
        self.objective = objective
        self.options = options
        self.n_latents = n_latents
        self.steps = steps
        self.batch_size = batch_size
        self.network = network
        self.likelihood = likelihood
        self.standardize = standardize
        self.learning_rate = learning_rate
        self.recipe: RecipeName | None = recipe
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.out = out
        self.progress = progress
        self._add(more)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments, including those in ``more``."""
        return super().get_params(deep) | self._more

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor."""
        listed = set(self._get_param_names())
        self._add({name: params.pop(name) for name in set(params) - listed})
        return super().set_params(**params)

    @property
    def _more(self) -> dict[str, Any]:
        return vars(self).get("more", {})

    def _add(self, more: dict[str, Any]) -> None:
        """Keep arguments that are not listed, which ``fit`` checks."""
        if more:
            self.more = self._more | more

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train a model.

        Args:
            X: Data, see :class:`Disentangler`.
            y: Factors of an array, one row per image, for objectives that need them.
        """
        self._check_names()
        params = self.get_params(deep=False)
        names = set(TrainingSettings.model_fields) & set(params)
        settings: Any = {name: params[name] for name in names}
        dataset = self._dataset(X, y, is_new=True)
        with self._threads():
            self.run_ = fit(
                self._choose_objective(),
                dataset,
                device=self.device,
                out=self.out,
                progress=self.progress,
                seed=self._choose_seed(),
                **settings,
            )
        self.model_ = self.run_.model
        self.n_features_in_ = self.model_.n_pixels
        return self

    def _check_names(self) -> None:
        known = {field.name for kind in OBJECTIVES.values() for field in fields(kind)}
        known |= set(TrainingSettings.model_fields) - {"seed"}
        for name in self._more:
            if name not in known:
                near = suggest(name, {*known, *self._get_param_names()})
                hint = " Use random_state." if name == "seed" else near
                raise TypeError(
                    f"Disentangler got an unexpected parameter {name!r}.{hint}"
                )

    def _choose_objective(self) -> AbstractObjective:
        hyperparameters = {
            name: value
            for name, value in self._more.items()
            if name not in TrainingSettings.model_fields
        }
        if isinstance(self.objective, str):
            options = {**(self.options or {}), **hyperparameters}
            return choose_objective(self.objective, options)
        if self.options is not None or hyperparameters:
            raise ValueError(
                "Disentangler takes options only with the name of an objective, but "
                f"objective is a {type(self.objective).__name__}."
            )
        return self.objective

    def _threads(self) -> AbstractContextManager[None]:
        return torch_threads(count_jobs(self.n_jobs))

    def _choose_seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    @property
    def _n_features_out(self) -> int:
        """Number of output features, which scikit-learn names ``disentangler0``, ..."""
        return self.model_.n_latents

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the codes of ``X``, the means of the posterior, ``(n, n_latents)``."""
        check_is_fitted(self, "model_")
        dataset = self._dataset(X)
        with self._threads():
            return encode(self.model_, dataset, progress=self.progress).codes

    def inverse_transform(self, Z: ArrayLike) -> NDArray[np.float32]:
        """Decode codes to images ``(n, channels, height, width)``, or vectors.

        Args:
            Z: Codes ``(n, n_latents)``.
        """
        check_is_fitted(self, "model_")
        codes = torch.from_numpy(check_array(Z, dtype="float32"))
        with torch.no_grad(), self._threads():
            pieces = [
                self.model_.decode(part.to(self.model_.mean.device)).cpu()
                for part in codes.split(_BATCH)
            ]
        return torch.cat(pieces).numpy()

    def score_samples(self, X: Any) -> NDArray[np.float32]:
        r"""Return a lower bound on :math:`\log p(x)` of each row, in nats, ``(n,)``.

        With a Gaussian or Laplace likelihood it bounds the log-density of the numbers
        in ``X`` (bytes count as numbers from 0 to 1), and may be above 0. With a
        Bernoulli likelihood it bounds the log-probability of binary images. Bernoulli
        likelihoods of gray images, and kernel-augmented ones, are not densities: there
        it is the same sum without a constant. For a model without a posterior it is the
        log-likelihood given the code.

        Estimated with the same few draws of noise for every row, so that a score
        depends only on the row and the seed of the run.
        """
        check_is_fitted(self, "model_")
        dataset = self._dataset(X)
        generator = torch_generator(self.run_.spec.seed, "score")
        noise = torch.randn(_DRAWS, self.model_.n_latents, generator=generator)
        bounds = []
        with torch.no_grad(), self._threads():
            for start in range(0, len(dataset), _BATCH):
                rows = np.arange(start, min(start + _BATCH, len(dataset)))
                bounds.append(self._bound(float_images(dataset, rows), noise))
        return torch.cat(bounds).numpy()

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of :meth:`score_samples`, for searches over settings."""
        del y
        return float(self.score_samples(X).mean())

    def __sklearn_tags__(self) -> Any:
        """Return tags for scikit-learn: codes are always ``float32``."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _bound(self, images: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        device = self.model_.mean.device
        images, noise = images.to(device), noise.to(device)
        posterior = self.model_.encode(images)
        constant = self._log_normalizer()
        if not isinstance(posterior, DiagonalGaussian):
            losses = self.model_.reconstruction_loss(images, posterior.mean)
            return -(losses + constant).cpu()
        std = (0.5 * posterior.log_variance).exp()
        losses = [
            self.model_.reconstruction_loss(images, posterior.mean + std * draw)
            for draw in noise
        ]
        divergence = posterior.kl_to_prior().sum(dim=1)
        return -(torch.stack(losses).mean(dim=0) + divergence + constant).cpu()

    def _log_normalizer(self) -> float:
        """Return the log-normalizer of the likelihood, in the units of the data."""
        model = self.model_
        # Dividing data by a spread increases their density by it.
        log_spread = model.std.double().log().expand(model.image_shape).sum()
        return model.likelihood.log_normalizer(model.n_pixels) + float(log_spread)

    def _dataset(
        self, X: Any, y: Any = None, *, is_new: bool = False
    ) -> AbstractDataset:
        if isinstance(X, AbstractDataset | DataLoader | str | os.PathLike):
            return as_dataset(X)
        if not isinstance(X, torch.Tensor) and getattr(X, "ndim", 0) <= 2:
            # A table, which scikit-learn checks and counts.
            X = validate_data(self, X, reset=is_new, dtype=np.float32)
        return as_dataset(X, y)
