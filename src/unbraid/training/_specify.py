"""specify: complete the settings of a run for a dataset."""

from typing import Unpack

from unbraid.data import AbstractDataset, ChannelStatistics, channel_statistics
from unbraid.models import choose_likelihood, choose_objective
from unbraid.models.networks import choose_network
from unbraid.models.objectives import AbstractObjective

from ._recipes import choose_recipe
from ._settings import TrainingOverrides, TrainingSettings
from ._settings_arguments import list_settings, read_settings
from ._specification import TrainingSpec


@list_settings
def specify(
    objective: AbstractObjective | str,
    dataset: AbstractDataset,
    *,
    statistics: ChannelStatistics | None = None,
    settings: TrainingSettings | None = None,
    **overrides: Unpack[TrainingOverrides],
) -> TrainingSpec:
    """Return the settings of a run, with everything chosen that was left open.

    Args:
        objective: Training objective, or its name.
        dataset: Data to train on.
        {settings}
        statistics: Statistics of the dataset, if they are known already.
        settings: Settings to start from, if not the defaults; the arguments above
            replace single ones.

    Example:
        >>> from unbraid.data import XYSquares
        >>> specify("vae", XYSquares(), steps=10).likelihood
        Bernoulli()
    """
    chosen = read_settings(specify, settings, overrides)
    network, likelihood = chosen.network, chosen.likelihood
    learning_rate = chosen.learning_rate
    objective = choose_objective(objective)
    if network == "auto":
        network = objective.default_network() or network
    if likelihood == "auto":
        likelihood = objective.default_likelihood() or likelihood
    if chosen.recipe is not None:
        recipe = choose_recipe(chosen.recipe, dataset.image_shape)
        network = recipe.network if network == "auto" else network
        learning_rate = learning_rate or recipe.learning_rate
    if not chosen.standardize:
        statistics = None
    elif statistics is None:
        statistics = channel_statistics(dataset)
    if likelihood == "auto":
        is_plain_image = len(dataset.image_shape) == 3 and not chosen.standardize
        likelihood = "bernoulli" if is_plain_image else "gaussian"
    resolved = {
        "objective": objective.for_data(dataset).over(chosen.steps),
        "network": choose_network(network, dataset.image_shape),
        "likelihood": choose_likelihood(likelihood),
        "learning_rate": learning_rate,
        "optimizer_options": tuple(sorted(chosen.optimizer_options.items())),
        "image_shape": tuple(dataset.image_shape),
        "mean": tuple(statistics.mean) if statistics else (),
        "std": tuple(statistics.std) if statistics else (),
    }
    kept = {name: getattr(chosen, name) for name in TrainingSpec.shared_settings()}
    return TrainingSpec(**kept | resolved)
