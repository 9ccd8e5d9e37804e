"""Disentangler: training as a scikit-learn estimator."""

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_array, check_is_fitted, validate_data
from torch.utils.data import DataLoader

from unbraid.data import AbstractDataset, as_dataset, float_images
from unbraid.foundation import torch_generator
from unbraid.models import (
    AbstractLikelihood,
    DiagonalGaussian,
    Number,
    choose_objective,
)
from unbraid.models.networks import AbstractNetwork
from unbraid.models.objectives import AbstractObjective
from unbraid.representation import encode
from unbraid.training import RecipeName, fit

_BATCH = 256
_DRAWS = 8


class Disentangler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An encoder that is trained by ``fit`` and used by ``transform``.

    ``X`` may be an array of images (``uint8``, or floats from 0 to 1, channels first or
    last), an array of vectors ``(n, length)``, a dataset, a torch ``DataLoader`` (which
    is read into memory), or the path of a folder of pictures.

    Args:
        objective: What the model is taught, or the name of it.
        options: Hyperparameters of a named objective, such as ``{"beta": 8.0}``.
        n_latents: Length of a code.
        steps: Updates.
        batch_size: Images of an update.
        network: Encoder and decoder: settings, a name, or ``"auto"``.
        likelihood: Settings, a name, or ``"auto"``: Bernoulli for images, Gaussian for
            vectors and what is standardised.
        standardise: Give every channel mean 0 and spread 1 inside the model.
        learning_rate: Learning rate of Adam, or a schedule such as
            ``Decay(value=1e-3)``; that of the recipe, or 0.0001, when not given.
        recipe: ``"small"`` for settings that work well on small images, see
            :func:`unbraid.fit`.
        seed: Of everything random.
        device: Where to train.
        out: Folder to keep the run in, from which an interrupted one goes on. It holds
            one run: a search over settings or folds, which makes many, must leave it
            out, or is refused from the second on.
        progress: Show a progress bar if the standard error is a terminal.

    Attributes:
        model_: The trained model.
        run_: The run that made it, with its history and warnings.
        n_features_in_: Length of the vectors, or the number of pixels.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> estimator = Disentangler("beta_vae", n_latents=2, steps=5).fit(squares)
        >>> codes = estimator.transform(squares)
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
        standardise: bool = False,
        learning_rate: Number | None = None,
        recipe: RecipeName | None = None,
        seed: int = 0,
        device: str = "auto",
        out: str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> None:
        self.objective = objective
        self.options = options
        self.n_latents = n_latents
        self.steps = steps
        self.batch_size = batch_size
        self.network = network
        self.likelihood = likelihood
        self.standardise = standardise
        self.learning_rate = learning_rate
        self.recipe: RecipeName | None = recipe
        self.seed = seed
        self.device = device
        self.out = out
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train.

        Args:
            X: Data, see above.
            y: Factors of an array, one row per image, for objectives that need them.
        """
        objective = self.objective
        if isinstance(objective, str):
            objective = choose_objective(objective, self.options)
        elif self.options is not None:
            raise ValueError(
                "Disentangler: expected options with the name of an objective only, "
                f"got them beside {type(objective).__name__}."
            )
        dataset = self._dataset(X, y, is_new=True)
        self.run_ = fit(
            objective,
            dataset,
            n_latents=self.n_latents,
            steps=self.steps,
            batch_size=self.batch_size,
            network=self.network,
            likelihood=self.likelihood,
            standardise=self.standardise,
            learning_rate=self.learning_rate,
            recipe=self.recipe,
            seed=self.seed,
            device=self.device,
            out=self.out,
            progress=self.progress,
        )
        self.model_ = self.run_.model
        self.n_features_in_ = self.model_.n_pixels
        return self

    @property
    def _n_features_out(self) -> int:
        """What scikit-learn counts the names of the codes by: ``disentangler0``, ..."""
        return self.model_.n_latents

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Codes of ``X``, the means of the posterior, ``(n, n_latents)``."""
        check_is_fitted(self, "model_")
        dataset = self._dataset(X)
        return encode(self.model_, dataset, progress=self.progress).codes

    def inverse_transform(self, Z: ArrayLike) -> NDArray[np.float32]:
        """Expected images of codes, ``(n, channels, height, width)``, or vectors.

        Args:
            Z: Codes ``(n, n_latents)``.
        """
        check_is_fitted(self, "model_")
        codes = torch.from_numpy(check_array(Z, dtype="float32"))
        with torch.no_grad():
            pieces = [
                self.model_.decode(part.to(self.model_.mean.device)).cpu()
                for part in codes.split(_BATCH)
            ]
        return torch.cat(pieces).numpy()

    def score_samples(self, X: Any) -> NDArray[np.float32]:
        r"""Lower bound on :math:`\log p(x)` of each row, in nats, ``(n,)``.

        With a Gaussian or Laplace likelihood it bounds the log-density of the numbers
        in ``X`` (bytes count as numbers from 0 to 1), and may be above 0. With a
        Bernoulli likelihood it bounds the log-probability of binary images. Bernoulli
        of grey images, and kernel-augmented likelihoods, are no densities: there it is
        the same sum without a constant. Of a model without uncertainty it is the
        log-likelihood given the code.

        Estimated with the same few draws of noise for every row, so that a score
        depends on the row and ``seed`` alone.
        """
        check_is_fitted(self, "model_")
        dataset = self._dataset(X)
        generator = torch_generator(self.seed, "score")
        noise = torch.randn(_DRAWS, self.model_.n_latents, generator=generator)
        bounds = []
        with torch.no_grad():
            for start in range(0, len(dataset), _BATCH):
                rows = np.arange(start, min(start + _BATCH, len(dataset)))
                bounds.append(self._bound(float_images(dataset, rows), noise))
        return torch.cat(bounds).numpy()

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of :meth:`score_samples`, for searches over settings."""
        del y
        return float(self.score_samples(X).mean())

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect: codes are ``float32`` whatever goes in."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _bound(self, images: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        device = self.model_.mean.device
        images, noise = images.to(device), noise.to(device)
        posterior = self.model_.encode(images)
        constant = self._log_normaliser()
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

    def _log_normaliser(self) -> float:
        """Of the likelihood, in the units of the data."""
        model = self.model_
        # What is divided by a spread is denser by it.
        log_spread = model.std.double().log().expand(model.image_shape).sum()
        return model.likelihood.log_normaliser(model.n_pixels) + float(log_spread)

    def _dataset(
        self, X: Any, y: Any = None, *, is_new: bool = False
    ) -> AbstractDataset:
        if isinstance(X, AbstractDataset | DataLoader | str | os.PathLike):
            return as_dataset(X)
        if not isinstance(X, torch.Tensor) and getattr(X, "ndim", 0) <= 2:
            # What scikit-learn means by X: a table, checked and counted its way.
            X = validate_data(self, X, reset=is_new, dtype=np.float32)
        return as_dataset(X, y)
