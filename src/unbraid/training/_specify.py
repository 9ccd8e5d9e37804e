"""From names and a dataset to the settings of a run."""

from typing import Any

from unbraid.data import AbstractDataset, ChannelStatistics, channel_statistics
from unbraid.models import (
    AbstractLikelihood,
    Number,
    choose_likelihood,
    choose_objective,
)
from unbraid.models.networks import AbstractNetwork, choose_network
from unbraid.models.objectives import AbstractObjective

from ._recipes import RecipeName, choose_recipe
from ._specification import TrainingSpec

LEARNING_RATE = 1e-4
"""Learning rate of a run for which none is chosen."""


def specify(
    objective: AbstractObjective | str,
    dataset: AbstractDataset,
    *,
    steps: int,
    network: AbstractNetwork | str = "auto",
    likelihood: AbstractLikelihood | str = "auto",
    standardise: bool | ChannelStatistics = False,
    learning_rate: Number | None = None,
    recipe: RecipeName | None = None,
    **settings: Any,
) -> TrainingSpec:
    """Settings of a run on a dataset, with everything chosen that was left open.

    Args:
        objective: What is taught, or its name.
        dataset: What is learned from.
        steps: Updates, over which the objective's schedules stretch.
        network: Settings, a name, or ``"auto"``.
        likelihood: Settings, a name, the ``.json`` file of a learnt one, or
            ``"auto"``: Bernoulli for images, Gaussian for vectors and what is
            standardised.
        standardise: Whether to, or the constants to do it with.
        learning_rate: Learning rate; that of the recipe, or 0.0001, when not given.
        recipe: Recipe that chooses the network and the learning rate if they are open.
        settings: Other fields of :class:`TrainingSpec`.

    Example:
        >>> from unbraid.data import XYSquares
        >>> specify("vae", XYSquares(), steps=10).likelihood
        Bernoulli()
    """
    statistics = channel_statistics(dataset) if standardise is True else standardise
    if likelihood == "auto":
        is_plain_image = len(dataset.image_shape) == 3 and not statistics
        likelihood = "bernoulli" if is_plain_image else "gaussian"
    if recipe is not None:
        chosen = choose_recipe(recipe, dataset.image_shape)
        network = chosen.network if network == "auto" else network
        if learning_rate is None:
            learning_rate = chosen.learning_rate
    return TrainingSpec(
        learning_rate=LEARNING_RATE if learning_rate is None else learning_rate,
        objective=choose_objective(objective).for_data(dataset).over(steps),
        network=choose_network(network, dataset.image_shape),
        likelihood=choose_likelihood(likelihood),
        image_shape=tuple(dataset.image_shape),
        steps=steps,
        mean=tuple(statistics.mean) if statistics else (),
        std=tuple(statistics.std) if statistics else (),
        **settings,
    )
