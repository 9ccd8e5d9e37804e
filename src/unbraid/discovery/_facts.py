"""DiscoveryFacts: the numbers that the summary and the page of a discovery show."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._data import Source
from ._discovery import Discovery
from ._evidence import Population
from ._plan import Plan


@dataclass(frozen=True)
class ConfigurationFacts:
    """Means over the finished runs of one configuration; ``None`` where unknown.

    Attributes:
        name: Name of the configuration.
        agreement: Agreement between the runs of the configuration (UDR).
        chance: Agreement that codes with random axes reach.
        found_again: Number of latents that runs with other seeds find again.
        dynamics: Discrepancy between the training of the runs; lower is more stable.
        active_latents: Number of active latents.
        elbo: ELBO in nats per image.
    """

    name: str
    agreement: float | None
    chance: float | None
    found_again: float | None
    dynamics: float | None
    active_latents: float | None
    elbo: float | None


@dataclass(frozen=True)
class ModelFacts:
    """One model that was compared.

    Attributes:
        name: Name of the model.
        configuration: Name of its configuration.
        run: Id of its run.
        active_latents: Number of active latents.
    """

    name: str
    configuration: str
    run: str
    active_latents: int


@dataclass(frozen=True, eq=False)
class DiscoveryFacts:
    """Facts about the data of a discovery, its runs and their comparison.

    Attributes:
        data_name: Name of the dataset.
        n_images: Number of images.
        image_shape: Shape of an image.
        plan: The plan, with the results of its rounds.
        models: The models, in the order of the evidence.
        configurations: Their configurations.
        pairs: Agreement of every two models; ``None`` where it was not computed.
    """

    data_name: str
    n_images: int
    image_shape: tuple[int, ...]
    plan: Plan
    models: tuple[ModelFacts, ...]
    configurations: tuple[ConfigurationFacts, ...]
    pairs: tuple[tuple[float | None, ...], ...]

    def to_plain(self, discovery: Discovery, weights: str | None) -> dict[str, Any]:
        """Return the content of ``discovery.json``.

        Args:
            discovery: Result of the discovery.
            weights: Hash of the weights of the chosen model, if there is one.
        """
        runs = {model.name: model.run for model in self.models}
        chosen = discovery.ranking.chosen
        return discovery.to_plain() | {
            "run": None if chosen is None else runs[chosen],
            "evidence": {
                "models": [
                    {"name": m.name, "specification": m.configuration, "run": m.run}
                    for m in self.models
                ],
                "pairs": [list(row) for row in self.pairs],
                "specifications": [
                    {
                        "name": each.name,
                        "agreement": each.agreement,
                        "chance": each.chance,
                        "dynamics": each.dynamics,
                        "active latents": each.active_latents,
                        "ELBO": each.elbo,
                    }
                    for each in self.configurations
                ],
            },
            "weights": weights,
            "plan": self.plan.to_plain(),
        }


def collect_facts(source: Source, plan: Plan, population: Population) -> DiscoveryFacts:
    """Return the facts about a discovery.

    Args:
        source: Its data.
        plan: Its plan, with the results of the rounds.
        population: Its finished runs.
    """
    evidence, dataset = population.evidence, source.dataset
    models = zip(
        evidence.names,
        evidence.specifications,
        population.runs,
        evidence.active_latents,
        strict=True,
    )
    return DiscoveryFacts(
        data_name=dataset.name,
        n_images=len(dataset),
        image_shape=dataset.image_shape,
        plan=plan,
        models=tuple(
            ModelFacts(name, owner, run.id, int(n_active))
            for name, owner, run, n_active in models
        ),
        configurations=_describe_configurations(population),
        pairs=tuple(
            tuple(_number(value) for value in row) for row in evidence.udr_pairs
        ),
    )


def _describe_configurations(population: Population) -> tuple[ConfigurationFacts, ...]:
    evidence = population.evidence
    agreement, again = evidence.udr(), evidence.reproducible()
    dynamics, elbo = evidence.dynamics(), evidence.elbo
    return tuple(
        ConfigurationFacts(
            name=name,
            agreement=_number(agreement[rows].mean()),
            chance=_number(evidence.chance.get(name, np.nan)),
            found_again=_number(again[rows].mean()),
            dynamics=_number(dynamics[index]),
            active_latents=_number(evidence.active_latents[rows].mean()),
            elbo=None if elbo is None else _number(elbo[rows].mean()),
        )
        for index, (name, rows) in enumerate(evidence.members.items())
    )


def _number(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None
