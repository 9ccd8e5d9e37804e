"""Block diagonality: does each factor's symmetry act on latents of its own?"""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.metrics._inputs import Factors
from unbraid.metrics._score import Score

from ._group_action import Group, GroupActions, fit_group_actions


def block_diagonality_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    group: Group = "by_kind",
    n_traversals: int = 256,
    seed: int = 0,
) -> Score:
    r"""Share of the linear actions of the factors that is block-diagonal.

    A representation is disentangled with respect to a product of groups if the codes
    decompose into subspaces, one per factor, each changed by the group of its factor
    and left alone by all others. The actions are those of :func:`equivariance_score`:
    for each shift :math:`g` of factor :math:`k`, the least squares map
    :math:`\rho(g) = I + N_g`. Each latent belongs to the factor that changes it most,
    and the score is the share of the actions that stays inside the blocks, rescaled
    so that latents changed alike by all factors give 0.

    .. math::
        E_k[j, l] = \sum_g N_g[j, l]^2 \, \mathrm{Var}[z_j], \qquad
        b_k = \frac{\sum_{j, l \in B_k} E_k[j, l]}{\sum_{j, l} E_k[j, l]}, \qquad
        s = \frac{\bar b - 1/K}{1 - 1/K}

    :math:`E_k[j, l]` is the energy of the change that latent :math:`j` makes in latent
    :math:`l`. A change of a latent by a constant counts at :math:`E_k[l, l]`.

    The blocks are sets of latents, so that rotating the codes lowers the score;
    ``details["subspaces"]`` tells whether there are such blocks in some other
    orthogonal basis. The score says nothing about the quality of the maps: read it
    next to :func:`equivariance_score`. Noise is changed alike by all factors and
    scores 0.

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``. Latents count by their
            variance: rescaling one of them changes the score. Give several times more
            rows than latents.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors` with the
            kind of each factor; at least two of them with complete traversals.
        group: Shifts of each factor, as in :func:`equivariance_score`.
        n_traversals: Number of traversals per factor, drawn at random; all if there
            are fewer.
        seed: Seed of the drawing.

    Returns:
        A score from 0 to 1, higher is better. ``per_factor`` has the shares
        :math:`b_k`, 0 for a factor that moves no code. ``matrix`` has the share of each
        factor's action that changes each latent, ``(n_latents, n_factors)``.
        ``details`` has ``subspaces``, one minus the mean overlap
        :math:`\mathrm{tr}(D_j D_k) / (\|D_j\| \|D_k\|)` of the second moments
        :math:`D_k` of the changes made by two factors: 1 if they change orthogonal
        subspaces, whatever the basis; and ``traversals``, the smallest number that a
        factor has.

    Raises:
        ValueError: If fewer than two factors have enough complete traversals.

    Example:
        >>> values = np.array([[a, b] for a in range(4) for b in range(4)])
        >>> round(block_diagonality_score(values, values), 9)
        1.0
        >>> turned = values @ np.array([[0.8, 0.6], [-0.6, 0.8]])
        >>> score = block_diagonality_score(turned, values)
        >>> round(score, 9), round(score.details["subspaces"], 9)
        (0.28, 1.0)

    References:
        Higgins, Amos, Pfau, Racaniere, Matthey, Rezende and Lerchner (2018), Towards a
        Definition of Disentangled Representations, Definitions 2 and 3.
        https://arxiv.org/abs/1812.02230
        The paper gives no number; this share is ours. Quessard, Barrett and Clements
        (2020), Learning Disentangled Representations and Group Structure of Dynamical
        Environments, likewise penalize actions outside of one block.
    """
    caller = "block_diagonality_score"
    actions = fit_group_actions(
        caller, codes, factors, group=group, n_traversals=n_traversals, seed=seed
    )
    n_used = len(actions.by_factor)
    if n_used < 2:
        raise ValueError(
            f"{caller} needs at least two factors with complete traversals, got "
            f"{n_used}."
        )
    effects = _normalized_effects(actions)
    changed = effects.sum(axis=1)  # (n_used, n_latents)
    block = changed.argmax(axis=0)
    shares = [effects[k][np.ix_(block == k, block == k)].sum() for k in range(n_used)]
    per_factor = dict(zip(actions.by_factor, map(float, shares), strict=True))
    value = (np.mean(shares) - 1 / n_used) / (1 - 1 / n_used)
    columns = [actions.factors.names.index(name) for name in per_factor]
    matrix = np.zeros((actions.n_latents, actions.factors.n_factors))
    matrix[:, columns] = changed.T
    return Score(
        float(np.clip(value, 0.0, 1.0)),
        name="block_diagonality",
        variant=f"group {group}",
        per_factor=per_factor,
        factors_used=(n_used, actions.factors.n_factors),
        matrix=matrix,
        details={
            "subspaces": _separation(actions),
            "traversals": actions.n_traversals,
        },
        seed=seed,
        note="; ".join(actions.notes),
    )


def _normalized_effects(actions: GroupActions) -> NDArray[np.float64]:
    """Return effects of each factor, scaled to sum to one, or zeros."""
    effects = np.stack([action.effect for action in actions.by_factor.values()])
    total = effects.sum(axis=(1, 2), keepdims=True)
    return effects / np.where(total > 0, total, 1.0)


def _separation(actions: GroupActions) -> float:
    """Return one minus the mean overlap of the changes of two factors."""
    changes = [action.changes for action in actions.by_factor.values()]
    norms = [np.linalg.norm(change) for change in changes]
    overlaps = [
        float(np.vdot(changes[j], changes[k]) / (norms[j] * norms[k]))
        if norms[j] and norms[k]
        else 1.0
        for j, k in combinations(range(len(changes)), 2)
    ]
    return float(np.clip(1.0 - np.mean(overlaps), 0.0, 1.0))
