"""Population-based training: which members live on, and how their settings change.

Nothing is trained here. Every decision is a function of the seed, the settings and the
scores, so that it comes out alike wherever and however often it is made.
"""

import math
from collections.abc import Sequence

from unbraid.foundation import numpy_generator

from ._lineage import Lineage, Member, has_converged
from ._population_settings import BATCH_SIZE, PopulationSettings


def first_generation(
    settings: PopulationSettings, *, n_images: int, batch_size: int, seed: int
) -> tuple[Member, ...]:
    """Members with hyperparameters drawn at random and fresh weights.

    Args:
        settings: Of the population.
        n_images: That each model sees per generation.
        batch_size: Of members, unless it is one of the hyperparameters.
        seed: Of the population.

    Example:
        >>> from unbraid.evolution import PopulationSettings
        >>> settings = PopulationSettings(size=4, models=2)
        >>> members = first_generation(
        ...     settings, n_images=1000, batch_size=64, seed=0)
        >>> len(members), members[0].parent, len(members[0].seeds)
        (4, None, 2)
    """
    members = []
    for place in range(settings.founders or settings.size):
        generator = numpy_generator(seed, "population", "first", place)
        drawn = {
            path: _checked(generator.choice(scope.values), scope.whole)
            for path, scope in settings.ranges.items()
        }
        members.append(
            Member(
                place=place,
                hyperparameters=drawn,
                parent=None,
                seeds=_seeds(settings, seed, 0, place),
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
    """Members of the next generation: exploit, then explore.

    The lowest ``share`` of members, and all that failed, are replaced: each by a copy
    of a random one of the highest ``share``, with every hyperparameter multiplied by a
    random factor, within its bounds. All others go on as they are.

    Args:
        settings: Of the population.
        lineage: With the scores of the last generation.
        n_images: That each model sees per generation.
        batch_size: Of members, unless it is one of the hyperparameters.
        seed: Of the population.

    Raises:
        ValueError: If no member of the last generation has a state to go on from.

    References:
        Jaderberg et al. (2017), Population Based Training of Neural Networks, section
        3; Estermann, Marks and Yanik (2020), section 2.2.
    """
    number = len(lineage.generations)
    members = sorted(lineage.generations[-1], key=_worth)[: settings.size]
    require_alive(members)
    alive = [member for member in members if member.score is not None]
    # At least one is kept, and nobody is both copied and replaced.
    n_replaced = min(math.ceil(settings.share * len(members)), len(members) // 2)
    best = alive[: max(n_replaced, 1)]
    lasting = {m.place for m in members[: len(members) - n_replaced]}
    heirs = []
    # By place, so that a member that goes on keeps its place where it can.
    for place, old in enumerate(sorted(members, key=lambda member: member.place)):
        is_kept = old.place in lasting and old.score is not None
        generator = numpy_generator(seed, "population", number, place)
        parent = old if is_kept else best[int(generator.integers(len(best)))]
        wanted = dict(parent.hyperparameters)
        if not is_kept:
            for path, scope in settings.ranges.items():
                low, high = scope.bounds
                factor = float(generator.choice(settings.factors))
                changed = _checked(wanted[path] * factor, scope.whole)
                wanted[path] = min(max(changed, low), high)
        heirs.append(
            Member(
                place=place,
                hyperparameters=wanted,
                parent=parent.place,
                seeds=_seeds(settings, seed, number, place),
                steps=parent.steps + _n_steps(wanted, n_images, batch_size),
            )
        )
    return tuple(heirs)


def require_alive(members: Sequence[Member]) -> None:
    """Refuse a generation of which nobody can be copied, and say why it failed."""
    if all(member.score is None for member in members):
        raise ValueError(
            "population: expected a member that can be trained and scored, got none: "
            f"{members[0].failure}"
        )


def why_over(settings: PopulationSettings, lineage: Lineage) -> str:
    """Why a population is complete; empty if it is not."""
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


def _worth(member: Member) -> tuple[float, int]:
    """The best first, those that failed last."""
    score = -math.inf if member.score is None else member.score
    return -score, member.place


def _checked(value: float, whole: bool) -> float:
    # Rounding first, so that 5 times 1.2 is 6 and not 7.
    return float(math.ceil(round(float(value), 9))) if whole else float(value)


def _n_steps(hyperparameters: dict[str, float], n_images: int, batch_size: int) -> int:
    return math.ceil(n_images / hyperparameters.get(BATCH_SIZE, batch_size))


def _seeds(
    settings: PopulationSettings, seed: int, generation: int, place: int
) -> tuple[int, ...]:
    generator = numpy_generator(seed, "population", "seeds", generation, place)
    return tuple(map(int, generator.integers(2**53, size=settings.models)))
