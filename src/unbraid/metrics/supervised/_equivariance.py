"""Equivariance: do symmetries of the factors act linearly on the codes?"""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics._inputs import Factors
from unbraid.metrics._score import Score

from ._group_action import Group, GroupAction, fit_group_actions


def equivariance_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    group: Group = "by_kind",
    n_traversals: int = 256,
    seed: int = 0,
) -> Score:
    r"""Linearity of the actions of each factor's symmetries on the codes.

    A symmetry :math:`g` shifts one factor and leaves the others alone. A representation
    is equivariant if there is a linear map :math:`\rho(g)` that takes the code of every
    state to the code of the shifted state. For each shift, the best such map is found
    by least squares and tested on pairs of states it was not fitted to (leave-one-out).

    .. math::
        e_k = \frac{\mathbb{E}\,\|z(g v) - \rho(g) z(v)\|^2}
        {\frac{1}{2} \mathbb{E}\,\|z(g v) - z(v)\|^2}, \qquad
        s = \frac{1}{K} \sum_k \max(0, 1 - e_k)

    with the mean over states :math:`v` and shifts :math:`g` of factor :math:`k`.
    The denominator is the variance along the factor, so that :math:`e_k = 1` for noise,
    and a factor that moves the codes a little counts as much as one that moves them
    far. Noise in any latent counts against every factor. A factor that moves no code
    contributes 0, and ``note`` names it.

    The maps may have a constant term, so that a translation of the codes is an action
    too. A linear code of an ordinal factor is therefore equivariant. A cyclic factor
    cannot be equivariant on a line; it takes a circle, such as
    :math:`(\cos\varphi, \sin\varphi)`. The score is the same for rotated codes: see
    :func:`block_diagonality_score` for the other half of the definition.

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``. The codes of rows that
            agree in all factors are averaged.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`
            with the kind of each factor. Only complete traversals are used, and a
            factor with too few is left out, as in :func:`linearity_ratio`.
        group: ``"by_kind"``: cyclic and categorical factors are shifted cyclically by
            1, 2, ... values, other ones by up to half of their values without
            wrapping around; ``"cyclic"``: all factors are shifted cyclically. With
            more than 32 shifts, 32 evenly spaced ones are used.
        n_traversals: Number of traversals per factor, drawn at random; all if there
            are fewer.
        seed: Seed of the drawing.

    Returns:
        A score from 0 to 1, higher is better. ``details`` has the mean ``error``
        :math:`e_k`, which can exceed 1; the mean ``generator_error`` of the shifts by
        one value; the mean ``r2``, the share of the variance of all codes that the maps
        explain, which is near 1 for any codes that change little from one value to the
        next or depend on many factors; and ``traversals``, the smallest number that a
        factor has.

    Raises:
        ValueError: If every factor has too few complete traversals.

    Example:
        >>> values = np.array([[a, b] for a in range(6) for b in range(5)])
        >>> factors = Factors(values, kinds=("cyclic", "cyclic"))
        >>> angles = 2 * np.pi * values / [6, 5]
        >>> circles = np.hstack([np.cos(angles), np.sin(angles)])
        >>> round(equivariance_score(circles, factors), 9)
        1.0
        >>> lines = values.astype(float)
        >>> equivariance_score(lines, factors) < 0.2
        True
        >>> round(equivariance_score(lines, values), 9)  # ordinal: no wrapping around
        1.0

    References:
        Higgins, Amos, Pfau, Racaniere, Matthey, Rezende and Lerchner (2018), Towards a
        Definition of Disentangled Representations, Definition 2.
        https://arxiv.org/abs/1812.02230
        Tonnaer, Perez Rey, Menkovski, Holenderski and Portegies (2022), Quantifying and
        Learning Linear Symmetry-Based Disentanglement, ICML. Their D_LSBD admits
        rotations of planes only; here the action is any linear map.
    """
    actions = fit_group_actions(
        "equivariance_score",
        codes,
        factors,
        group=group,
        n_traversals=n_traversals,
        seed=seed,
    )
    fitted = list(actions.by_factor.values())
    errors = dict(zip(actions.by_factor, map(_relative_error, fitted), strict=True))
    first = [_relative_error(action, 1) for action in fitted]
    per_factor = {factor: max(0.0, 1.0 - error) for factor, error in errors.items()}
    return Score(
        float(np.mean(list(per_factor.values()))),
        name="equivariance",
        variant=f"group {group}",
        per_factor=per_factor,
        factors_used=(len(per_factor), actions.factors.n_factors),
        details={
            "error": float(np.mean(list(errors.values()))),
            "generator_error": float(np.mean(first)),
            "r2": float(np.mean([_explained(action) for action in fitted])),
            "traversals": actions.n_traversals,
        },
        seed=seed,
        note="; ".join(actions.notes),
    )


def _relative_error(action: GroupAction, n_shifts: int | None = None) -> float:
    """Return the error of the first shifts, or of all, relative to that of noise."""
    moved = float(action.moved[:n_shifts].sum())
    return 2.0 * float(action.missed[:n_shifts].sum()) / moved if moved else 1.0


def _explained(action: GroupAction) -> float:
    """Return the share of the variance that the maps explain; 0 without variance."""
    spread = float(action.spread.sum())
    return 1.0 - float(action.missed.sum()) / spread if spread else 0.0
