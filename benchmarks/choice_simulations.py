"""Do the intervals and the refusal of ``rank_models`` keep what they promise?

Populations are simulated whose quality is known: the codes of a model are the factors,
turned by a random rotation whose size is the entanglement of the model, plus noise. The
decoder turns them back; every factor changes the image in a direction of its own, some
more than others.

    python benchmarks/choice_simulations.py [--simulations 200]

``intervals``: the share of the 95% intervals of configurations and of models that
contain the score which the same models get among twenty seeds per configuration.
``refusals``: the share of populations without meaningful axes (rotations drawn
uniformly) of which a model is chosen, and the share of populations with mean DCI
disentanglement above 0.5 of which none is. The same for the stored populations of
trained models.
"""

import argparse
import os
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from choice import STORED, Population
from choice import describe_evidence as choose_among
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.stats import ortho_group

from unbraid.execution import count_cores
from unbraid.selection import Evidence, Ranking, measure_evidence, rank_models

N_ROWS, N_MANY = 400, 20
SEEDS = (2, 3, 4, 6)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Simulation:
    """Settings of simulated models.

    Attributes:
        n_factors: Number of factors, and of latents.
        entanglement: Typical angle of the rotations of each configuration, in radians;
            infinite for rotations that are drawn uniformly.
        noise: Standard deviation of the noise of the codes.
    """

    n_factors: int
    entanglement: tuple[float, ...]
    noise: float


def draw_simulation(generator: np.random.Generator) -> Simulation:
    """Draw the settings of a population whose configurations differ in quality."""
    n_configurations = int(generator.integers(2, 5))
    return Simulation(
        n_factors=int(generator.integers(3, 7)),
        entanglement=tuple(generator.uniform(0.05, 1.0, n_configurations)),
        noise=float(generator.uniform(0.1, 0.4)),
    )


def draw_factors(n_factors: int, generator: np.random.Generator) -> Floats:
    """Draw independent uniform factors with variance 1."""
    return generator.uniform(-np.sqrt(3), np.sqrt(3), (N_ROWS, n_factors))


class Model(NamedTuple):
    """A simulated model.

    Attributes:
        codes: Codes of the rows, ``(n_rows, n_latents)``.
        contrast: Jacobian contrast of its decoder.
        weights: Weights of the factors in the latents, ``(n_factors, n_latents)``.
    """

    codes: Floats
    contrast: float
    weights: Floats


def draw_models(
    factors: Floats,
    simulation: Simulation,
    n_seeds: int,
    generator: np.random.Generator,
) -> list[Model]:
    """Draw some seeds of each configuration."""
    effects = np.linspace(1.0, 2.0, factors.shape[1])
    models = []
    for angle in simulation.entanglement:
        for _ in range(n_seeds):
            rotation = _rotation(factors.shape[1], angle, generator)
            turned = factors @ rotation
            noise = generator.normal(scale=simulation.noise, size=turned.shape)
            codes = (turned + noise)[:, generator.permutation(turned.shape[1])]
            # The image is the factors times their effects, and the rotation has
            # determinant 1, so that the derivative has that of the effects.
            norms = np.linalg.norm(effects[:, None] * rotation, axis=0)
            contrast = float(np.log(norms).sum() - np.log(effects).sum())
            models.append(Model(codes, contrast, rotation))
    return models


def _rotation(size: int, angle: float, generator: np.random.Generator) -> Floats:
    if np.isinf(angle):
        return np.asarray(ortho_group.rvs(size, random_state=generator))
    # Seeds of one configuration differ in their entanglement, too.
    drawn = generator.normal(size=(size, size)) * angle * generator.lognormal(0, 0.4)
    return np.asarray(expm((drawn - drawn.T) / 2))


def describe_evidence(models: list[Model], n_seeds: int) -> Evidence:
    """Collect the evidence on simulated models."""
    owners = [f"c{k // n_seeds}" for k in range(len(models))]
    evidence = measure_evidence(
        [f"{owner} {k}" for k, owner in enumerate(owners)],
        owners,
        [model.codes for model in models],
    )
    return replace(evidence, contrast=np.array([model.contrast for model in models]))


def count_covered(
    simulation: Simulation, n_seeds: int, generator: np.random.Generator
) -> tuple[list[bool], list[bool]]:
    """Return whether the intervals of configurations and of models hold the truth."""
    factors = draw_factors(simulation.n_factors, generator)
    many = draw_models(factors, simulation, N_MANY, generator)
    starts = np.arange(len(simulation.entanglement)) * N_MANY
    few = [many[start + seed] for start in starts for seed in range(n_seeds)]
    truth = rank_models(describe_evidence(many, N_MANY))
    ranking = rank_models(describe_evidence(few, n_seeds))
    true_configurations = {each.name: each.score for each in truth.specifications}
    covered = [
        _contains(each.interval, true_configurations[each.name])
        for each in ranking.specifications
    ]
    true_models = {each.name: each.score for each in truth.models}
    names = {
        f"c{k // n_seeds} {k}": f"c{k // n_seeds} {k // n_seeds * N_MANY + k % n_seeds}"
        for k in range(len(few))
    }
    return covered, [
        _contains(each.interval, true_models[names[each.name]])
        for each in ranking.models
    ]


def _contains(interval: tuple[float, float], value: float) -> bool:
    return bool(interval[0] - 1e-9 <= value <= interval[1] + 1e-9)


def measure_refusals(
    simulation: Simulation, n_seeds: int, generator: np.random.Generator
) -> tuple[bool, float]:
    """Return whether nothing is chosen, and the mean DCI disentanglement."""
    factors = draw_factors(simulation.n_factors, generator)
    models = draw_models(factors, simulation, n_seeds, generator)
    ranking: Ranking = rank_models(describe_evidence(models, n_seeds))
    quality = np.mean([_disentanglement(model.weights) for model in models])
    return ranking.chosen is None, float(quality)


def _disentanglement(weights: Floats) -> float:
    """DCI disentanglement of the variance that each factor explains of each latent."""
    variance = weights**2  # of rotations: rows and columns sum to 1
    entropy = -(variance * np.log(variance + 1e-12)).sum(axis=0)
    return float(1 - entropy.mean() / np.log(len(variance)))


def simulate_intervals(task: tuple[int, int]) -> tuple[list[bool], list[bool]]:
    """Simulate one population; see :func:`count_covered`."""
    n_seeds, _ = task
    generator = np.random.default_rng(task)
    return count_covered(draw_simulation(generator), n_seeds, generator)


def simulate_null(number: int) -> bool:
    """Return whether nothing is chosen of a population without meaningful axes."""
    generator = np.random.default_rng([100, number])
    drawn = draw_simulation(generator)
    null = Simulation(drawn.n_factors, (np.inf,) * len(drawn.entanglement), drawn.noise)
    n_seeds = int(generator.choice(SEEDS))
    return measure_refusals(null, n_seeds, generator)[0]


def simulate_good(number: int) -> tuple[bool, float]:
    """Return whether nothing is chosen of a population, and its disentanglement."""
    generator = np.random.default_rng([200, number])
    n_seeds = int(generator.choice(SEEDS))
    return measure_refusals(draw_simulation(generator), n_seeds, generator)


def refuse_trained_null() -> list[bool]:
    """Return whether nothing is chosen of stored populations without axes."""
    populations = map(Population.load, sorted((STORED / "null").glob("*.npz")))
    return [
        rank_models(choose_among(each, each.members)).chosen is None
        for each in populations
    ]


def refuse_trained_rotated(n_seeds: int = 3, n_draws: int = 2) -> list[bool]:
    """Return whether nothing is chosen of trained models whose axes were rotated.

    Each stored rotation takes the place of the models as they are, some times with
    other seeds.
    """
    generator, refused = np.random.default_rng(1), []
    for path in sorted(STORED.glob("*.npz")):
        population = Population.load(path)
        rotated = population.table["rotated"]
        for number in np.repeat(np.arange(len(rotated)), n_draws):
            table = population.table | {
                "udr_spearman": rotated[number],
                "rotated": np.delete(rotated, number, axis=0),
            }
            drawn = [
                generator.choice(own, n_seeds, replace=False)
                for own in population.members
            ]
            # Across configurations, rotations were not computed, and do not count here.
            evidence = choose_among(Population(population.name, table), drawn)
            ranking = rank_models(replace(evidence, across=None))
            refused.append(ranking.chosen is None)
    return refused


def refuse_trained_good(n_seeds: int = 3, n_draws: int = 10) -> list[bool]:
    """Return whether nothing is chosen of seeds whose mean DCI is above 0.5."""
    generator, refused = np.random.default_rng(0), []
    for path in sorted(STORED.glob("*.npz")):
        population = Population.load(path)
        for own in population.members:
            for _ in range(n_draws):
                rows = generator.choice(own, n_seeds, replace=False)
                if population.table["dci"][rows].mean() > 0.5:
                    evidence = choose_among(population, [rows])
                    refused.append(rank_models(evidence).chosen is None)
    return refused


def main() -> None:
    """Simulate, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--simulations", type=int, default=200)
    n_simulations = parser.parse_args().simulations
    rotated, null = refuse_trained_rotated(), refuse_trained_null()
    trained = refuse_trained_good()
    print(f"trained, rotated: {1 - np.mean(rotated):.1%} of {len(rotated)} accepted")
    print(f"trained on mixtures: {1 - np.mean(null):.1%} of {len(null)} accepted")
    print(f"trained, DCI above 0.5: {np.mean(trained):.1%} of {len(trained)} refused")
    with get_context("spawn").Pool(count_cores()) as pool:
        for n_seeds in SEEDS:
            tasks = [(n_seeds, k) for k in range(n_simulations // len(SEEDS))]
            held = pool.map(simulate_intervals, tasks, chunksize=1)
            of_configurations, of_models = (
                np.mean([each for part in parts for each in part])
                for parts in zip(*held, strict=True)
            )
            print(
                f"{n_seeds} seeds: intervals of configurations hold "
                f"{of_configurations:.1%}, of models {of_models:.1%}",
                flush=True,
            )
        refused = pool.map(simulate_null, range(n_simulations), chunksize=1)
        print(f"without axes: {1 - np.mean(refused):.1%} accepted", flush=True)
        drawn = pool.map(simulate_good, range(n_simulations), chunksize=1)
    good = [is_refused for is_refused, quality in drawn if quality > 0.5]
    print(f"DCI above 0.5: {np.mean(good):.1%} of {len(good)} refused", flush=True)


if __name__ == "__main__":
    main()
