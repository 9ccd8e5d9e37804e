"""fit: from an objective and data to a trained model, in one call."""

from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from numpy.typing import ArrayLike

from unbraid.data import (
    AbstractDataset,
    BatchStream,
    LabelledImages,
    channel_statistics,
    open_dataset,
)
from unbraid.models import AbstractLikelihood, Autoencoder
from unbraid.models._names import choose_likelihood
from unbraid.models.networks import AbstractNetwork, choose_network
from unbraid.models.objectives import AbstractObjective, choose_objective

from ._loop import train
from ._specification import TrainingSpec
from ._state import TrainingState


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        model: What was learned.
        history: One record per range of steps: parts of the loss, divergence of each
            latent, active latents, gradient norm, images per second.
        spec: Settings that made it.
    """

    model: Autoencoder
    history: list[dict[str, Any]] = field(repr=False)
    spec: TrainingSpec


def fit(
    objective: AbstractObjective | str,
    data: AbstractDataset | ArrayLike | str,
    *,
    steps: int = 10_000,
    batch_size: int = 64,
    n_latents: int = 10,
    network: AbstractNetwork | str = "auto",
    likelihood: AbstractLikelihood | str = "bernoulli",
    standardise: bool = False,
    order: Literal["iid", "shuffled"] = "iid",
    optimiser: str = "Adam",
    learning_rate: float = 1e-4,
    seed: int = 0,
    device: str | torch.device = "auto",
    log_every: int = 100,
) -> Run:
    """Train a model.

    Args:
        objective: What it is taught, or the name of it.
        data: A dataset, an array of images, or what the command line takes.
        steps: Updates.
        batch_size: Images (or pairs, or triplets) of an update.
        n_latents: Length of a code.
        network: Encoder and decoder: settings, a name, or ``"auto"``.
        likelihood: How images are compared with reconstructions: settings or a name.
        standardise: Give every channel mean 0 and spread 1 inside the model.
        order: Rows drawn independently (``"iid"``), or all in turn (``"shuffled"``).
        optimiser: Name of a class of ``torch.optim``.
        learning_rate: Of the optimiser.
        seed: Of everything random; the same seed gives the same model.
        device: ``"auto"`` takes the first of cuda, mps and cpu that is there.
        log_every: Steps of one record of the history.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> run = fit("beta_vae", squares, steps=20, n_latents=2)
        >>> run.model.n_latents, run.history[-1]["step"]
        (2, 20)
    """
    dataset = _dataset(data)
    objective = choose_objective(objective)
    statistics = channel_statistics(dataset) if standardise else None
    spec = TrainingSpec(
        objective=objective.for_data(dataset).over(steps),
        network=choose_network(network, dataset.image_shape),
        likelihood=choose_likelihood(likelihood),
        image_shape=tuple(dataset.image_shape),
        n_latents=n_latents,
        steps=steps,
        batch_size=batch_size,
        order=order,
        optimiser=optimiser,
        learning_rate=learning_rate,
        mean=() if statistics is None else tuple(statistics.mean),
        std=() if statistics is None else tuple(statistics.std),
        seed=seed,
    )
    place = choose_device(device)
    state = TrainingState.create(spec, device=place)
    stream = stream_of(spec, dataset, place)
    history = []
    for snapshot in train(state, stream, spec.objective, steps=steps, every=log_every):
        history.append({"step": snapshot.step, **snapshot.terms})
    return Run(state.model, history, spec)


def stream_of(
    spec: TrainingSpec, dataset: AbstractDataset, device: torch.device
) -> BatchStream:
    """The batches of a run."""
    return BatchStream(
        dataset=dataset,
        size=spec.batch_size,
        seed=spec.seed,
        order=spec.order,
        sampler=spec.objective.sampler(),
        device=device,
    )


def choose_device(device: str | torch.device) -> torch.device:
    """Where to compute: what was asked for, or the fastest that is there."""
    if device != "auto":
        return torch.device(device)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def _dataset(data: AbstractDataset | ArrayLike | str) -> AbstractDataset:
    if isinstance(data, AbstractDataset):
        return data
    return open_dataset(data) if isinstance(data, str) else LabelledImages(data)
