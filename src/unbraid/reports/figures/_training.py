"""Training curves: loss terms, KL divergence of each latent, and capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.models import value_at
from unbraid.training import ACTIVE

from ._drawing import label_of, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOT_TERMS = (
    "step",
    "kl_per_latent",
    "active_latents",
    "gradient_norm",
    "images_per_second",
)


@dataclass(frozen=True, eq=False)
class TrainingCurves:
    """Training curves of a run.

    Attributes:
        steps: Steps of the records, ``(n_records,)``.
        terms: Loss terms by name, ``(n_records,)`` each; NaN where unknown.
        kl: KL divergence of each latent in nats, ``(n_records, n_latents)``, or
            ``None``.
        capacity: Target capacity of the objective in nats, ``(n_records,)``; ``None``
            if the objective has none.
    """

    steps: NDArray[np.int64]
    terms: Mapping[str, NDArray[np.float64]]
    kl: NDArray[np.float64] | None
    capacity: NDArray[np.float64] | None

    @property
    def active_latents(self) -> NDArray[np.int64] | None:
        """Number of active latents, ``(n_records,)``."""
        return None if self.kl is None else (self.kl > ACTIVE).sum(axis=1)


def training_curves(
    history: Sequence[Mapping[str, Any]], *, objective: Any = None
) -> TrainingCurves:
    """Extract training curves from the history of a run.

    Args:
        history: Records of a run, such as :attr:`unbraid.Run.history`.
        objective: Training objective. If it has a ``capacity``, that is included.

    Example:
        >>> record = {"step": 100, "total": 9.0, "kl_per_latent": [0.5, 0.0]}
        >>> curves = training_curves([record])
        >>> curves.terms["total"], curves.active_latents
        (array([9.]), array([1]))
    """
    if not history:
        raise ValueError("training_curves needs at least one record, got none.")
    names = dict.fromkeys(
        name for record in history for name in record if name not in _NOT_TERMS
    )
    steps = np.array([record["step"] for record in history], dtype=np.int64)
    per_latent = [record.get("kl_per_latent") for record in history]
    kl = None
    if all(part is not None for part in per_latent):
        kl = np.array(per_latent, dtype=np.float64)
    capacity = getattr(objective, "capacity", None)
    return TrainingCurves(
        steps=steps,
        terms={
            name: np.array([_number(record.get(name)) for record in history])
            for name in names
        },
        kl=kl,
        capacity=None
        if capacity is None
        else np.array([value_at(capacity, int(step)) for step in steps]),
    )


def draw_training_curves(curves: TrainingCurves) -> Figure:
    """Draw loss terms, KL divergence of each latent, and used capacity.

    Args:
        curves: Curves from :func:`training_curves`.
    """
    n_panels = 1 if curves.kl is None else 3
    figure = new_figure((3.6 * n_panels, 3.2))
    axes = figure.add_subplot(1, n_panels, 1)
    for name, values in curves.terms.items():
        axes.plot(curves.steps, values, label=label_of(name), linewidth=1.2)
    # Loss terms differ by orders of magnitude, and some are negative.
    smallest = min(np.nanmin(values) for values in curves.terms.values())
    axes.set_yscale("log" if smallest > 0 else "symlog")
    axes.minorticks_off()
    axes.set_title("loss terms", fontsize=9, loc="left")
    _label(axes, "nats per image")
    _add_legend(axes)
    if curves.kl is not None:
        _draw_latents(figure.add_subplot(1, 3, 2), curves.steps, curves.kl)
        _draw_capacity(figure.add_subplot(1, 3, 3), curves)
    return figure


def _draw_latents(axes: Any, steps: NDArray[np.int64], kl: NDArray[np.float64]) -> None:
    order = np.argsort(-kl[-1], kind="stable")
    for rank, latent in enumerate(order):
        is_named = rank < 10 and kl[-1, latent] > ACTIVE
        axes.plot(
            steps,
            kl[:, latent],
            linewidth=1.2,
            label=f"z{latent}" if is_named else None,
            color=None if is_named else "#8a8a8a",
            alpha=1.0 if is_named else 0.5,
        )
    if (kl[-1] > ACTIVE).any():
        _add_legend(axes, n_columns=5)
    axes.set_title("KL divergence of each latent", fontsize=9, loc="left")
    _label(axes, "nats per image")


def _draw_capacity(axes: Any, curves: TrainingCurves) -> None:
    assert curves.kl is not None
    assert curves.active_latents is not None
    axes.plot(curves.steps, curves.kl.sum(axis=1), linewidth=1.2, label="nats used")
    if curves.capacity is not None:
        axes.plot(curves.steps, curves.capacity, "--", color="#8a8a8a", label="target")
    latents = curves.active_latents
    axes.step(
        curves.steps,
        latents,
        where="post",
        linewidth=1.2,
        label=f"active latents (of {curves.kl.shape[1]})",
    )
    axes.set_ylim(bottom=0)
    _add_legend(axes)
    axes.set_title("capacity", fontsize=9, loc="left")
    _label(axes, "nats per image, or latents")


def _add_legend(axes: Any, *, n_columns: int = 2) -> None:
    """Draw a legend below the axes, where it hides no line."""
    axes.legend(
        fontsize=7,
        frameon=False,
        ncols=n_columns,
        columnspacing=1.2,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
    )


def _label(axes: Any, vertical: str) -> None:
    axes.set_xlabel("step", fontsize=8)
    axes.set_ylabel(vertical, fontsize=8)
    axes.set_xlim(left=0)
    tidy(axes)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
