"""Population-based training: which members continue, and how settings change.

Nothing is trained here. Every decision is a function of the seed, the settings and the
scores, so that it is reproducible.
"""

import math
from collections.abc import Sequence

from unbraid.foundation import numpy_generator

from ._lineage import Lineage, Member, has_converged
from ._population_settings import BATCH_SIZE, PopulationSettings


def first_generation(
    settings: PopulationSettings, *, n_images: int, batch_size: int, seed: int
) -> tuple[Member, ...]:
    """Return members with random hyperparameters and new weights.

    Args:
        settings: Settings of the population.
        n_images: Images per model and generation.
        batch_size: Batch size, unless it is one of the hyperparameters.
        seed: Seed of the population.

    Example:
        >>> from unbraid.evolution import PopulationSettings
        >>> settings = PopulationSettings(size=4, models=2)
        >>> members = first_generation(
        ...     settings, n_images=1000, batch_size=64, seed=0)
        >>> len(members), members[0].parent, len(members[0].seeds)
        (4, None, 2)
    """
    members = []
    for index in range(settings.founders or settings.size):
        generator = numpy_generator(seed, "population", "first", index)
        drawn = {
            path: _round_up(generator.choice(scope.values), scope.whole)
            for path, scope in settings.ranges.items()
        }
        members.append(
            Member(
                index=index,
                hyperparameters=drawn,
                parent=None,
                seeds=_seeds(settings, seed, 0, index),
                steps=_n_steps(drawn, n_images, batch_size),
            )
        )
    return tuple(members)


def next_generation(
    settings: PopulationSettings,
    lineage: Lineage,
    *,
    n_images: int,
    batch_size: int,
    seed: int,
) -> tuple[Member, ...]:
    """Return the members of the next generation: exploit, then explore.

    The ``share`` of members with the lowest scores, and all that failed, are replaced.
    Each is replaced by a copy of a random member from the ``share`` with the highest
    scores, with every hyperparameter multiplied by a random factor, within its bounds.
    All other members continue unchanged.

    Args:
        settings: Settings of the population.
        lineage: All generations so far, with scores.
        n_images: Images per model and generation.
        batch_size: Batch size, unless it is one of the hyperparameters.
        seed: Seed of the population.

    Raises:
        ValueError: If all members of the last generation failed.

    References:
        Jaderberg et al. (2017), Population Based Training of Neural Networks, section
        3; Estermann, Marks and Yanik (2020), section 2.2.
    """
    number = len(lineage.generations)
    members = sorted(lineage.generations[-1], key=_by_rank)[: settings.size]
    require_alive(members)
    alive = [member for member in members if member.score is not None]
    # At least one member is kept, and none is both copied and replaced.
    n_replaced = min(math.ceil(settings.share * len(members)), len(members) // 2)
    best = alive[: max(n_replaced, 1)]
    remaining = {m.index for m in members[: len(members) - n_replaced]}
    successors = []
    # In order of index, so that members that continue keep their index if possible.
    for index, old in enumerate(sorted(members, key=lambda member: member.index)):
        is_kept = old.index in remaining and old.score is not None
        generator = numpy_generator(seed, "population", number, index)
        parent = old if is_kept else best[int(generator.integers(len(best)))]
        hyperparameters = dict(parent.hyperparameters)
        if not is_kept:
            for path, scope in settings.ranges.items():
                low, high = scope.bounds
                factor = float(generator.choice(settings.factors))
                changed = _round_up(hyperparameters[path] * factor, scope.whole)
                hyperparameters[path] = min(max(changed, low), high)
        successors.append(
            Member(
                index=index,
                hyperparameters=hyperparameters,
                parent=parent.index,
                seeds=_seeds(settings, seed, number, index),
                steps=parent.steps + _n_steps(hyperparameters, n_images, batch_size),
            )
        )
    return tuple(successors)


def require_alive(members: Sequence[Member]) -> None:
    """Raise an error if all members failed, with the reason of the first one."""
    if all(member.score is None for member in members):
        raise ValueError(
            "No member of the population could be trained and scored. The first one "
            f"failed: {members[0].failure}"
        )


def find_end_reason(settings: PopulationSettings, lineage: Lineage) -> str:
    """Return why a population is finished; empty if it is not."""
    if settings.patience is not None and has_converged(
        lineage.best_scores, patience=settings.patience, change=settings.change
    ):
        return (
            f"the best score changed by less than {settings.change:g} in "
            f"{settings.patience} generations"
        )
    if len(lineage.generations) >= settings.generations:
        return f"all {settings.generations} generations are done"
    return ""


def _by_rank(member: Member) -> tuple[float, int]:
    """Sort the best member first, and failed ones last."""
    score = -math.inf if member.score is None else member.score
    return -score, member.index


def _round_up(value: float, whole: bool) -> float:
    # Rounding first, so that 5 times 1.2 is 6 and not 7.
    return float(math.ceil(round(float(value), 9))) if whole else float(value)


def _n_steps(hyperparameters: dict[str, float], n_images: int, batch_size: int) -> int:
    return math.ceil(n_images / hyperparameters.get(BATCH_SIZE, batch_size))


def _seeds(
    settings: PopulationSettings, seed: int, generation: int, index: int
) -> tuple[int, ...]:
    generator = numpy_generator(seed, "population", "seeds", generation, index)
    return tuple(map(int, generator.integers(2**53, size=settings.models)))
