"""Evidence: everything that is known about trained models without labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_shape

from ._reproducible import reproducible_latents

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Label-free scores of models.

    Models of the same configuration differ in their seed only. Scores that were not
    measured are left out, or NaN for single models.

    Args:
        names: Names of the models, all different.
        specifications: Configuration of each model.
        udr_pairs: ``pairs`` of :class:`UDRScores`, ``(n, n)``.
        active_latents: Number of active latents of each model, ``(n,)``.
        chance: UDR of codes with randomly rotated axes, by configuration; see
            :func:`chance_level`. Where it is missing, only models without active
            latents are rejected.
        chance_mean: Mean agreement of rotated codes of each configuration, with which
            :meth:`reproducible` corrects for chance; see :func:`chance_agreement`. 0
            where it is missing.
        dynamics_pairs: Discrepancies between the training of the models of each
            configuration, in the order of ``names``; see :class:`DynamicsScore`.
        elbo: Evidence lower bound in nats per image, ``(n,)``.
        reconstruction: Reconstruction loss in nats per image, ``(n,)``.
        supervised: Score of each model on a few labels, ``(n,)``.
        n_labels: Number of these labels.
    """

    names: tuple[str, ...]
    specifications: tuple[str, ...]
    udr_pairs: Floats
    active_latents: NDArray[np.int64]
    chance: Mapping[str, float] = field(default_factory=dict)
    chance_mean: Mapping[str, float] = field(default_factory=dict)
    dynamics_pairs: Mapping[str, Floats] = field(default_factory=dict)
    elbo: Floats | None = None
    reconstruction: Floats | None = None
    supervised: Floats | None = None
    n_labels: int = 0

    def __post_init__(self) -> None:
        n_models = len(self.names)
        if n_models < 2 or len(set(self.names)) < n_models:
            raise ValueError(
                "Evidence needs at least two models with different names, got "
                f"{n_models} models with {len(set(self.names))} names."
            )
        columns = ("active_latents", "elbo", "reconstruction", "supervised")
        for name in ("specifications", *columns):
            column = getattr(self, name)
            if column is not None:
                check_shape(name, np.asarray(column), (n_models,))
        check_shape("udr_pairs", np.asarray(self.udr_pairs), (n_models, n_models))
        for name, pairs in self.dynamics_pairs.items():
            n_runs = self.specifications.count(name)
            shape = (n_runs, n_runs)
            check_shape(f"dynamics_pairs[{name!r}]", np.asarray(pairs), shape)

    @cached_property
    def members(self) -> dict[str, NDArray[np.int64]]:
        """Indices of the models of each configuration, in order of appearance."""
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.specifications):
            rows.setdefault(name, []).append(row)
        return {name: np.array(found) for name, found in rows.items()}

    @cached_property
    def is_alive(self) -> NDArray[np.bool_]:
        """Whether each model has an active latent, ``(n,)``."""
        return np.asarray(self.active_latents) > 0

    def udr(self, partners: NDArray[np.int64] | None = None) -> Floats:
        """Return the median similarity of each model to the others.

        Args:
            partners: Models to compare with, with repeats, instead of all.
        """
        everyone = _median_over_others(self.udr_pairs, np.arange(len(self.names)))
        if partners is None:
            return everyone
        found = _median_over_others(self.udr_pairs, partners)
        # A draw may contain no other model.
        return np.where(np.isnan(found), everyone, found)

    def reproducible(self, partners: NDArray[np.int64] | None = None) -> Floats:
        """Return the number of latents that other seeds find again, beyond chance.

        Args:
            partners: Models to compare with, with repeats, instead of all.
        """
        chance = [self.chance_mean.get(name, 0.0) for name in self.specifications]
        return reproducible_latents(self.udr(partners), self.active_latents, chance)

    def dynamics(self, drawn: Mapping[str, NDArray[np.int64]] | None = None) -> Floats:
        """Return the mean discrepancy within each configuration, lower is more stable.

        Models without an active latent are left out, because a decoder that ignores its
        input is perfectly stable. NaN if fewer than two are left.

        Args:
            drawn: Models of each configuration, with repeats, instead of all.
        """
        everyone = {name: np.arange(len(rows)) for name, rows in self.members.items()}
        found = self._mean_discrepancies(everyone)
        if drawn is None:
            return found
        redrawn = self._mean_discrepancies(drawn)
        # A draw may contain only one model, which has no pair.
        return np.where(np.isnan(redrawn), found, redrawn)

    def _mean_discrepancies(self, drawn: Mapping[str, NDArray[np.int64]]) -> Floats:
        scores = []
        for name, rows in self.members.items():
            chosen = drawn[name][self.is_alive[rows[drawn[name]]]]
            pairs = np.asarray(
                self.dynamics_pairs.get(name, np.full((len(rows), len(rows)), np.nan))
            )
            values = pairs[np.ix_(chosen, chosen)][chosen[:, None] != chosen]
            known = values[~np.isnan(values)]
            scores.append(known.mean() if known.size else np.nan)
        return np.array(scores)


def _median_over_others(pairs: Floats, partners: NDArray[np.int64]) -> Floats:
    # A model's own score is the median of its column.
    found = np.array(pairs.T[:, partners], dtype=np.float64)
    found[np.arange(len(pairs))[:, None] == partners] = np.nan
    ordered = np.sort(found, axis=1)  # NaN comes last
    count = np.sum(~np.isnan(ordered), axis=1)
    rows = np.arange(len(pairs))
    low = ordered[rows, np.maximum(count - 1, 0) // 2]
    high = ordered[rows, np.minimum(count // 2, ordered.shape[1] - 1)]
    return np.where(count > 0, (low + high) / 2, np.nan)
