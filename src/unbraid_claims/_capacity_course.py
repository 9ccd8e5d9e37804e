"""One run whose capacity rises: KL per latent, learned factors and reconstructions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, BatchStream, float_images, open_dataset
from unbraid.metrics import Factors, bin_codes, mutual_information_matrix
from unbraid.models import value_at
from unbraid.reports.figures import label_of, new_figure, tidy
from unbraid.representation import encode, evaluation_mode
from unbraid.training import RunSettings, TrainingState, train

from ._rows import random_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_N_BINS = 20


@dataclass(frozen=True, kw_only=True)
class CapacityCourse:
    """What one run learned while its capacity rose.

    Attributes:
        capacities: Capacity at each snapshot, in nats.
        kl_per_latent: KL divergence of each latent, averaged over the steps since the
            snapshot before, ``(n_snapshots, n_latents)``.
        reconstruction: Negative log-likelihood of images, averaged likewise.
        factor_names: Names of the factors.
        known: Mutual information of each factor with its best latent, in nats,
            ``(n_snapshots, n_factors)``.
        images: A few images of the dataset, ``(n_images, channels, height, width)``,
            from 0 to 1.
        reconstructions: The same images after each snapshot.
    """

    capacities: list[float]
    kl_per_latent: list[list[float]]
    reconstruction: list[float]
    factor_names: list[str]
    known: list[list[float]]
    images: list[Any]
    reconstructions: list[Any]


def follow_capacity(
    run: RunSettings, *, n_snapshots: int, n_rows: int = 5_000, n_images: int = 6
) -> CapacityCourse:
    """Train a run and look at it in regular intervals.

    Args:
        run: Settings of a run with an ``annealed_vae``.
        n_snapshots: Number of times to look.
        n_rows: Number of images from which the information is estimated.
        n_images: Number of images to reconstruct.
    """
    dataset = open_dataset(run.data)
    spec = run.training_spec(dataset)
    state = TrainingState.create(spec)
    stream = BatchStream(
        dataset=dataset,
        size=spec.batch_size,
        seed=spec.seed,
        order=spec.order,
        sampler=spec.objective.sampler(),
        channels_last=True,
    )
    objective: Any = spec.objective.over(spec.steps)
    rows = random_rows(len(dataset), n_rows, "capacity")
    images = float_images(dataset, random_rows(len(dataset), n_images, "shown"))
    records: dict[str, list[Any]] = defaultdict(list)
    for snapshot in train(
        state,
        stream,
        objective,
        steps=spec.steps,
        learning_rate=spec.learning_rate,
        every=max(spec.steps // n_snapshots, 1),
    ):
        assert snapshot.kl_per_latent is not None
        records["capacities"].append(value_at(objective.capacity, snapshot.step))
        records["kl_per_latent"].append(snapshot.kl_per_latent.tolist())
        records["reconstruction"].append(snapshot.terms["reconstruction"])
        records["known"].append(_known_nats(state.model, dataset, rows))
        with torch.no_grad(), evaluation_mode(state.model):
            shown = state.model(images)
        records["reconstructions"].append(shown.round(decimals=3).tolist())
    names = list(dataset.factor_names)
    return CapacityCourse(factor_names=names, images=images.tolist(), **records)


def _known_nats(
    model: Any, dataset: AbstractDataset, rows: NDArray[np.int64]
) -> list[float]:
    """Mutual information of each factor with its best latent."""
    found = encode(model, dataset, rows=rows, progress=False)
    assert found.factors is not None
    factors = Factors(found.factors, names=found.factor_names)
    known = mutual_information_matrix(bin_codes(found.codes, _N_BINS), factors)
    return known.max(axis=0).tolist()


def draw_capacity_course(course: CapacityCourse) -> Figure:
    """KL per latent, information per factor, and images with their reconstructions."""
    figure = new_figure((9.0, 7.0))
    top, bottom = np.asarray(figure.subfigures(2, 1), dtype=object)
    left, right = top.subplots(1, 2)
    for number, line in enumerate(zip(*course.kl_per_latent, strict=True)):
        left.plot(course.capacities, line, label=f"latent {number}")
    for name, line in zip(
        course.factor_names, zip(*course.known, strict=True), strict=True
    ):
        right.plot(course.capacities, line, label=label_of(name.replace("_", " ")))
    for axes, up in ((left, "KL (nats)"), (right, "nats known to the best latent")):
        axes.set_xlabel("capacity (nats)")
        axes.set_ylabel(up)
        axes.legend(fontsize=7)
        tidy(axes)
    titles = ["images", *(f"{capacity:.1f} nats" for capacity in course.capacities)]
    strips = [course.images, *course.reconstructions]
    for axes, title, strip in zip(
        bottom.subplots(1, len(strips)), titles, strips, strict=True
    ):
        # One column per snapshot, images below each other.
        column = np.concatenate(np.moveaxis(np.array(strip), 1, -1), axis=0)
        axes.imshow(column.squeeze(), cmap="gray", vmin=0, vmax=1)
        axes.set_title(title, fontsize=7)
        axes.set_axis_off()
    return figure
