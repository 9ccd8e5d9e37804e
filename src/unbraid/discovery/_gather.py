"""Everything that the runs of a study tell about themselves without labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset
from unbraid.foundation import CheckpointFormatError, NewerFormatError, set_aside
from unbraid.representation import encode
from unbraid.selection import (
    Evidence,
    chance_agreement,
    training_dynamics,
    unsupervised_disentanglement_ranking,
)
from unbraid.studies import Cell, StudyFolder
from unbraid.training import Trace, load

from ._configuration import name_configuration
from ._labels import FewLabels


@dataclass(frozen=True, eq=False)
class Population:
    """The finished runs of a study, and what is known of them.

    Attributes:
        cells: The runs, in the order of the evidence.
        evidence: What ranks them.
        scores: MIG of each run if its data have labels, else NaN.
    """

    cells: tuple[Cell, ...]
    evidence: Evidence
    scores: NDArray[np.float64]

    def cell(self, name: str) -> Cell:
        """The run of a model."""
        return self.cells[self.evidence.names.index(name)]


def gather(
    folder: StudyFolder,
    dataset: AbstractDataset,
    rows: NDArray[np.int64],
    *,
    labels: FewLabels | None = None,
) -> Population:
    """Codes, agreement, training dynamics and fit of every finished run.

    Args:
        folder: Of the study.
        dataset: What its runs learned from.
        rows: On which codes are compared.
        labels: The few there are, if any.

    Raises:
        ValueError: If fewer than two runs are done.
        CheckpointFormatError: If models are damaged; running the study once more trains
            them again.
    """
    states = folder.states()
    cells = tuple(cell for cell in folder.cells if states[cell.id] == "done")
    if len(cells) < 2:
        raise ValueError(
            "discover: expected at least two finished runs to compare, got "
            f"{len(cells)}. `unbraid study status {folder.path}` says why."
        )
    models = _load(cells)
    codes = [encode(model, dataset, rows=rows, progress=False) for model in models]
    owners = [name_configuration(cell.spec) for cell in cells]
    agreement = unsupervised_disentanglement_ranking(
        codes,
        similarity="spearman",
        groups=owners,
        cache=folder.path / "agreement.npz",
    )
    chance = chance_agreement(codes, owners, similarity="spearman")
    found = [cell.files.read_scores() for cell in cells]
    supervised = None
    if labels is not None:
        supervised = np.array([labels.score(model, dataset) for model in models])
    evidence = Evidence(
        names=tuple(
            f"{owner}, seed {cell.spec.seed}"
            for owner, cell in zip(owners, cells, strict=True)
        ),
        specifications=tuple(owners),
        udr_pairs=agreement.pairs,
        active_latents=agreement.n_active,
        chance={name: each.level for name, each in chance.items()},
        chance_mean={name: each.mean for name, each in chance.items()},
        dynamics_pairs=_dynamics(cells, owners, agreement.n_active > 0),
        elbo=_column([part["fit"] for part in found], "elbo"),
        reconstruction=_column([part["fit"] for part in found], "reconstruction"),
        supervised=supervised,
        n_labels=0 if labels is None else len(labels.rows),
    )
    migs = [part["scores"].get("mig", {}) for part in found]
    return Population(cells, evidence, _column(migs, "value"))


def describe_population(population: Population, chosen: str | None) -> dict[str, Any]:
    """What the ranking rests on, as JSON can hold it.

    Args:
        population: What was ranked.
        chosen: Name of the model that was chosen, if one was.

    Returns:
        ``run``, the id of the chosen one's run; and ``evidence``: ``models`` with name,
        specification and run, ``pairs`` of their agreement, and ``specifications`` with
        the means of what is known of each.
    """
    evidence = population.evidence
    dynamics, udr = evidence.dynamics(), evidence.udr()
    specifications = [
        {
            "name": name,
            "agreement": _number(udr[rows].mean()),
            "chance": _number(evidence.chance.get(name, np.nan)),
            "dynamics": _number(dynamics[place]),
            "active latents": _number(evidence.active_latents[rows].mean()),
            "ELBO": None
            if evidence.elbo is None
            else _number(evidence.elbo[rows].mean()),
        }
        for place, (name, rows) in enumerate(evidence.members.items())
    ]
    models = [
        {"name": name, "specification": owner, "run": cell.id}
        for name, owner, cell in zip(
            evidence.names, evidence.specifications, population.cells, strict=True
        )
    ]
    pairs = [[_number(value) for value in row] for row in evidence.udr_pairs]
    return {
        "run": None if chosen is None else population.cell(chosen).id,
        "evidence": {
            "models": models,
            "pairs": pairs,
            "specifications": specifications,
        },
    }


def _number(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None


def _load(cells: Sequence[Cell]) -> list[Any]:
    """The models of runs; a damaged one costs its run the scores."""
    models, damaged = [], []
    for cell in cells:
        try:
            models.append(load(cell.files.path))
        except NewerFormatError:
            raise
        except CheckpointFormatError as error:
            set_aside(cell.files.scores)  # so that the run is computed again
            damaged.append(error)
    if damaged:
        raise CheckpointFormatError(f"{damaged[0]} The same call trains the run again.")
    return models


def _load_trace(cell: Cell) -> Trace | None:
    try:
        return Trace.load(cell.files.path)
    except (FileNotFoundError, CheckpointFormatError):
        return None  # pruned or damaged: the other realisations do without it


def _dynamics(
    cells: Sequence[Cell], owners: Sequence[str], is_active: NDArray[np.bool_]
) -> dict[str, NDArray[np.float64]]:
    """Of every specification, among its realisations that do something."""
    found = {}
    for name in dict.fromkeys(owners):
        own = np.flatnonzero(np.array(owners) == name)
        traces = {
            place: trace
            for place in np.flatnonzero(is_active[own])
            if (trace := _load_trace(cells[own[place]])) is not None
        }
        pairs = np.full((len(own), len(own)), np.nan)
        if len(traces) > 1:
            among = np.ix_(list(traces), list(traces))
            pairs[among] = training_dynamics(list(traces.values())).pairs
        found[name] = pairs
    return found


def _column(found: Sequence[Mapping[str, float]], name: str) -> NDArray[np.float64]:
    values = [part.get(name) for part in found]
    return np.array([np.nan if value is None else float(value) for value in values])
