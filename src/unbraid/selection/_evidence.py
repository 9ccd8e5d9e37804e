"""Evidence: everything that is known about trained models without labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_shape

from ._reproducible import reproducible_latents
from ._udr import median_over_partners

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
        across: Median agreement of each model with those of other configurations,
            ``(n,)``.
        contrast: Jacobian contrast of each model, ``(n,)``; see
            :func:`jacobian_contrast`.
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
    across: Floats | None = None
    contrast: Floats | None = None
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
        columns = (
            *("active_latents", "across", "contrast"),
            *("elbo", "reconstruction", "supervised"),
        )
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

    def udr(self) -> Floats:
        """Return the median similarity of each model to the others."""
        return median_over_partners(self.udr_pairs)

    def reproducible(self) -> Floats:
        """Return the number of latents that other seeds find again, beyond chance."""
        chance = [self.chance_mean.get(name, 0.0) for name in self.specifications]
        return reproducible_latents(self.udr(), self.active_latents, chance)

    def dynamics(self) -> Floats:
        """Return the mean discrepancy within each configuration, lower is more stable.

        Models without an active latent are left out, because a decoder that ignores its
        input is perfectly stable. NaN if fewer than two are left.
        """
        scores = []
        for name, rows in self.members.items():
            alive = np.flatnonzero(self.is_alive[rows])
            pairs = np.asarray(
                self.dynamics_pairs.get(name, np.full((len(rows), len(rows)), np.nan))
            )
            values = pairs[np.ix_(alive, alive)][~np.eye(len(alive), dtype=bool)]
            known = values[~np.isnan(values)]
            scores.append(known.mean() if known.size else np.nan)
        return np.array(scores)
