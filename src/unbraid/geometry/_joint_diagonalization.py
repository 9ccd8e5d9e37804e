"""Joint diagonalization: one rotation that makes several matrices diagonal at once."""

import numpy as np
import torch
from numpy.typing import NDArray

_MAX_ROUNDS = 100
_TOLERANCE = 1e-12
"""Iteration stops for a set when the sum of its squared off-diagonal entries falls by
less than this fraction of the sum of all its squares."""
_CHUNK = 20_000_000
"""Numbers processed at a time: 160 MB."""


def joint_diagonalizers(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Rotations that make sets of symmetric matrices as diagonal as possible.

    Orthogonal FFDIAG for all sets at once. A rotation :math:`\exp(W)` with
    :math:`w_{ij} = \sum_r c^r_{ij} (c^r_{ii} - c^r_{jj}) / \sum_r (c^r_{ii} -
    c^r_{jj})^2` would remove small off-diagonal entries. This step is repeated, and
    halved where it does not help. The start are the eigenvectors of a mixture of the
    matrices, which are the solution if an exact one exists.

    Args:
        matrices: Symmetric matrices of shape ``(n_sets, n_matrices, k, k)``.

    Returns:
        Rotations ``V`` of shape ``(n_sets, k, k)``, whose rows are the joint
        eigenvectors: ``V C V.T`` is diagonal.

    Example:
        >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
        >>> pair = np.stack([turn.T @ np.diag(d) @ turn for d in ([1, 2], [5, 3])])
        >>> rotation = joint_diagonalizers(pair[None])[0]
        >>> bool(np.abs((rotation @ pair @ rotation.T)[:, 0, 1]).max() < 1e-12)
        True

    References:
        Ziehe, Laskov, Nolte and Müller (2004), A Fast Algorithm for Joint
        Diagonalization with Non-orthogonal Transformations, section 3.2 and the
        orthogonal case of section 4.
    """
    n_sets, n_matrices, k, _ = matrices.shape
    if n_matrices == 0:
        return np.tile(np.eye(k), (n_sets, 1, 1))
    rotations = np.empty((n_sets, k, k))
    chunk = max(1, _CHUNK // (n_matrices * k * k))
    for start in range(0, n_sets, chunk):
        sets = slice(start, start + chunk)
        part = torch.from_numpy(np.ascontiguousarray(matrices[sets]))
        rotations[sets] = _diagonalize(part).numpy()
    return rotations


def _diagonalize(matrices: torch.Tensor) -> torch.Tensor:
    n_matrices = matrices.shape[1]
    # Any generic mixture will do; it is fixed, so that results can be reproduced.
    weights = torch.cos(torch.arange(1.0, n_matrices + 1, dtype=torch.float64))
    mixture = torch.einsum("r,nrij->nij", weights, matrices)
    rotations = torch.linalg.eigh(mixture)[1].mT.contiguous()
    current = _turned(rotations, matrices)
    totals = matrices.square().sum(dim=(1, 2, 3))
    errors, steps = _off_diagonal(current), torch.ones_like(totals)
    active = torch.nonzero(errors > 1e-28 * totals).ravel()
    for _ in range(_MAX_ROUNDS if n_matrices > 1 else 0):
        if not len(active):
            break
        turns = torch.linalg.matrix_exp(_step(current[active], steps[active]))
        turned = _turned(turns, current[active])
        after = _off_diagonal(turned)
        gain = errors[active] - after
        better = gain > 0
        accepted = active[better]
        current[accepted] = turned[better]
        rotations[accepted] = turns[better] @ rotations[accepted]
        errors[accepted] = after[better]
        steps[accepted] = torch.clamp(2 * steps[accepted], max=1.0)
        steps[active[~better]] *= 0.5
        is_done = better & (gain <= _TOLERANCE * totals[active])
        is_done |= steps[active] < 1e-3
        active = active[~is_done]
    return rotations


def _step(matrices: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    diagonals = torch.diagonal(matrices, dim1=2, dim2=3)
    apart = diagonals[..., :, None] - diagonals[..., None, :]
    weights = apart.square().sum(dim=1)
    tiny = 1e-14 * matrices.square().sum(dim=(1, 2, 3))[:, None, None]
    wanted = (matrices * apart).sum(dim=1) / torch.clamp(weights, min=1e-300)
    wanted = torch.where(weights > tiny, wanted, 0.0)
    # The first-order step is not valid beyond a length of 1.
    length = torch.clamp(wanted.square().sum(dim=(1, 2)).sqrt(), min=1.0)
    return wanted * (sizes / length)[:, None, None]


def _turned(rotations: torch.Tensor, matrices: torch.Tensor) -> torch.Tensor:
    return rotations[:, None] @ matrices @ rotations[:, None].mT


def _off_diagonal(matrices: torch.Tensor) -> torch.Tensor:
    everything = matrices.square().sum(dim=(1, 2, 3))
    diagonal = torch.diagonal(matrices, dim1=2, dim2=3).square().sum(dim=(1, 2))
    return everything - diagonal
