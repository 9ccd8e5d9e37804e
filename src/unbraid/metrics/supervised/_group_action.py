"""The linear action of a factor's symmetry group on the codes, by least squares."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, check_option, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs

from ._states import States, states_of_table
from ._traversal_spread import too_few_traversals
from ._traversals import complete_along_each_factor

Group = Literal["by_kind", "cyclic"]

_MAX_SHIFTS = 32
# Share of the codes' largest eigenvalue; matters only for directions without data.
_RIDGE = 1e-8


@dataclass(frozen=True, kw_only=True)
class GroupAction:
    """Effect of the shifts of one factor on the codes.

    Every shift has its own affine map ``z + b + (z - mean) N``. ``N`` is the smallest
    matrix with the least squared error, so that codes which the data do not tell apart
    are left alone. All energies are means over the pairs of a shift, summed over
    latents, one number per shift, ``(n_shifts,)``; the first shift is by one value.

    Attributes:
        moved: Squared distance between a code and the code of the shifted state.
        missed: Squared distance between the code of the shifted state and its
            prediction from all other pairs (leave-one-out).
        spread: Squared distance between the code of the shifted state and the mean of
            these codes.
        effect: Energy of the change that latent ``j`` makes in latent ``l``, summed
            over shifts, ``(n_latents, n_latents)``: ``N[j, l]**2`` times the variance
            of latent ``j``. A change by a constant, ``b[l]**2``, is on the diagonal.
        changes: Second moments of the predicted changes, summed over shifts,
            ``(n_latents, n_latents)``.
        n_traversals: Number of traversals behind these numbers.
    """

    moved: NDArray[np.float64]
    missed: NDArray[np.float64]
    spread: NDArray[np.float64]
    effect: NDArray[np.float64]
    changes: NDArray[np.float64]
    n_traversals: int

    @property
    def is_trivial(self) -> bool:
        """Whether no code moves along the factor."""
        return not self.moved.any()


@dataclass(frozen=True)
class GroupActions:
    """The actions of all factors that have enough complete traversals.

    Attributes:
        by_factor: Action of each factor, by name.
        n_latents: Number of latents.
        factors: All factors of the table.
        notes: Remarks for the notes of a score.
    """

    by_factor: dict[str, GroupAction]
    n_latents: int
    factors: Factors
    notes: tuple[str, ...]

    @property
    def n_traversals(self) -> int:
        """Smallest number of traversals behind an action."""
        return min(action.n_traversals for action in self.by_factor.values())


def fit_group_actions(
    caller: str,
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    group: Group,
    n_traversals: int,
    seed: int,
) -> GroupActions:
    """Fit the action of every factor on the codes.

    Args:
        caller: Name of the metric, for messages.
        codes: Latent means, ``(n_rows, n_latents)``.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`.
        group: ``"by_kind"`` or ``"cyclic"``; see :func:`equivariance_score`.
        n_traversals: Largest number of traversals per factor, drawn at random.
        seed: Seed of the drawing.
    """
    codes, factors = read_inputs(caller, codes, factors)
    check_option(f"{caller}: group", group, Group)
    check_count(f"{caller}: n_traversals", n_traversals)
    states = states_of_table(codes, factors)
    cubes = _cubes(states, n_traversals, seed)
    actions = {}
    for kind, (factor, cube) in zip(factors.kinds, cubes, strict=True):
        wraps = group == "cyclic" or kind in ("cyclic", "categorical")
        if cube is not None and cube.shape[0] * (cube.shape[1] - 1) > 1:
            actions[factor] = _fit(cube, wraps)
    if not actions:
        raise ValueError(too_few_traversals(caller, factors))
    left_out = [name for name in factors.names if name not in actions]
    notes = [
        f"no code moves along {factor!r}"
        for factor, action in actions.items()
        if action.is_trivial
    ]
    if left_out:
        names = ", ".join(map(repr, left_out))
        notes.append(f"left out, too few complete traversals: {names}")
    return GroupActions(actions, codes.shape[1], factors, tuple(notes))


def _cubes(
    states: States, n_traversals: int, seed: int
) -> Iterator[tuple[str, NDArray[np.float64] | None]]:
    """Yield codes on traversals by factor, ``(n_traversals, n_values, n_latents)``."""
    if not len(states.codes):
        yield from ((name, None) for name in states.factors.names)
        return
    center = states.codes - states.codes.mean(axis=0)
    scale = np.abs(center).max() or 1.0  # squares of large codes must not overflow
    for factor, traversals in complete_along_each_factor(states.factors):
        if traversals is None:
            yield factor, None
            continue
        rows = traversals.rows.reshape(-1, traversals.n_values)
        if len(rows) > n_traversals:
            generator = numpy_generator(seed, "traversals", factor)
            rows = rows[generator.permutation(len(rows))[:n_traversals]]
        yield factor, center[rows] / scale


def _fit(cube: NDArray[np.float64], wraps: bool) -> GroupAction:
    n_latents = cube.shape[-1]
    moved, missed, spread = [], [], []
    effect = np.zeros((n_latents, n_latents))
    changes = np.zeros((n_latents, n_latents))
    for source, target in _shifted(cube, wraps):
        spread.append(target.var(axis=0).sum())
        change = target - source
        offset = change.mean(axis=0)
        source, change = source - source.mean(axis=0), change - offset
        covariance = source.T @ source / len(source)
        values, vectors = np.linalg.eigh(covariance)
        values = np.clip(values, 0.0, None)
        damped = values + _RIDGE * values[-1]
        inverse = (vectors / np.where(damped > 0, damped, 1.0)) @ vectors.T
        matrix = inverse @ (source.T @ change / len(source))
        predicted = source @ matrix
        leverage = (1 + np.einsum("ij,ij->i", source @ inverse, source)) / len(source)
        left = (change - predicted) / np.clip(1 - leverage, 1e-12, None)[:, None]
        moved.append((change**2).sum() / len(source) + (offset**2).sum())
        missed.append((left**2).sum() / len(source))
        effect += np.diag(covariance)[:, None] * matrix**2 + np.diag(offset**2)
        changes += predicted.T @ predicted / len(source) + np.outer(offset, offset)
    return GroupAction(
        moved=np.array(moved),
        missed=np.array(missed),
        spread=np.array(spread),
        effect=effect,
        changes=changes,
        n_traversals=len(cube),
    )


def _shifted(
    cube: NDArray[np.float64], wraps: bool
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield codes before and after each shift, both ``(n_pairs, n_latents)``.

    A factor that does not wrap around is shifted by at most half of its values, because
    the few values with a partner farther away are easy to map.
    """
    _, n_values, n_latents = cube.shape
    last = n_values - 1 if wraps else n_values // 2
    n_shifts = min(last, _MAX_SHIFTS)
    for shift in np.linspace(1, last, n_shifts).round().astype(int):
        source, target = cube[:, : n_values - shift], cube[:, shift:]
        if wraps:
            source, target = cube, np.roll(cube, -shift, axis=1)
        yield source.reshape(-1, n_latents), target.reshape(-1, n_latents)
