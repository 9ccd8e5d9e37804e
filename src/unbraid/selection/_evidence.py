"""Evidence: everything that is known of trained models without looking at labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ._reproducible import reproducible_latents

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Label-free scores of models, each a realisation of a specification.

    Realisations share everything but the seed. What was not measured is left out, or
    NaN for single models.

    Args:
        names: One per model, all different.
        specifications: What each model is a realisation of.
        udr_pairs: ``pairs`` of :class:`UDRScores`, ``(n, n)``.
        active_latents: How many latents of each model say anything, ``(n,)``.
        chance: For each specification, the UDR that codes of the same content would
            reach if their axes meant nothing; see :func:`chance_level`. Where it is
            missing, nothing but a model without active latents is refused.
        chance_mean: Mean agreement of rotated codes of each configuration, with which
            :meth:`reproducible` corrects for chance; see :func:`chance_agreement`. 0
            where it is missing.
        dynamics_pairs: For each specification, the discrepancy between the training of
            its realisations, in the order in which they stand in ``names``; see
            :class:`DynamicsScore`.
        elbo: Nats per image, ``(n,)``.
        reconstruction: Nats per image, lower is better, ``(n,)``.
        supervised: A score of each model on the few labels there are, ``(n,)``.
        n_labels: How many they are.
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
                "Evidence: expected at least two models with different names, got "
                f"{n_models} models with {len(set(self.names))} names."
            )
        columns = {
            "specifications": (len(self.specifications),),
            "active_latents": np.shape(self.active_latents),
        } | {
            name: np.shape(getattr(self, name))
            for name in ("elbo", "reconstruction", "supervised")
            if getattr(self, name) is not None
        }
        for name, shape in columns.items():
            if shape != (n_models,):
                raise ValueError(
                    f"Evidence: expected one of {name} per model, got shape {shape} "
                    f"for {n_models} models."
                )
        if np.shape(self.udr_pairs) != (n_models, n_models):
            raise ValueError(
                f"Evidence: expected udr_pairs of shape {(n_models, n_models)}, got "
                f"{np.shape(self.udr_pairs)}."
            )
        for name, pairs in self.dynamics_pairs.items():
            n_realisations = self.specifications.count(name)
            if np.shape(pairs) != (n_realisations, n_realisations):
                raise ValueError(
                    f"Evidence: expected {n_realisations} x {n_realisations} dynamics "
                    f"of {name!r}, got shape {np.shape(pairs)}."
                )

    @cached_property
    def members(self) -> dict[str, NDArray[np.int64]]:
        """Rows of the realisations of each specification, in order of appearance."""
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.specifications):
            rows.setdefault(name, []).append(row)
        return {name: np.array(found) for name, found in rows.items()}

    @cached_property
    def is_alive(self) -> NDArray[np.bool_]:
        """Which models have a latent that says anything."""
        return np.asarray(self.active_latents) > 0

    def udr(self, partners: NDArray[np.int64] | None = None) -> Floats:
        """Median similarity of each model to the others it was compared with.

        Args:
            partners: Models to be compared with, with repeats, in place of all.
        """
        everyone = _median_over_others(self.udr_pairs, np.arange(len(self.names)))
        if partners is None:
            return everyone
        found = _median_over_others(self.udr_pairs, partners)
        # A draw may leave a model with nobody but itself.
        return np.where(np.isnan(found), everyone, found)

    def reproducible(self, partners: NDArray[np.int64] | None = None) -> Floats:
        """Number of latents that other seeds find again, beyond chance.

        Args:
            partners: Models to compare with, with repeats, instead of all.
        """
        chance = [self.chance_mean.get(name, 0.0) for name in self.specifications]
        return reproducible_latents(self.udr(partners), self.active_latents, chance)

    def dynamics(self, drawn: Mapping[str, NDArray[np.int64]] | None = None) -> Floats:
        """Mean discrepancy within each specification, lower is more stable.

        Models without an active latent are left out: nothing is more stable than a
        decoder that ignores its input. NaN where fewer than two are left.

        Args:
            drawn: For each specification, its realisations with repeats.
        """
        everyone = {name: np.arange(len(rows)) for name, rows in self.members.items()}
        found = self._mean_discrepancies(everyone)
        if drawn is None:
            return found
        redrawn = self._mean_discrepancies(drawn)
        # A draw may hold nothing but one realisation, which has no pair.
        return np.where(np.isnan(redrawn), found, redrawn)

    def _mean_discrepancies(self, drawn: Mapping[str, NDArray[np.int64]]) -> Floats:
        scores = []
        for name, rows in self.members.items():
            places = drawn[name][self.is_alive[rows[drawn[name]]]]
            pairs = np.asarray(
                self.dynamics_pairs.get(name, np.full((len(rows), len(rows)), np.nan))
            )
            values = pairs[np.ix_(places, places)][places[:, None] != places]
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
