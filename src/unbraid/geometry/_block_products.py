"""Products of a block-sparse matrix with several vectors, as few large ones."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

_NUMBERS = 1_000_000
"""Numbers that are gathered at a time: 4 MB, which stay near the processor."""

_EXACT_NUMBERS = 20_000_000


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of blocks that have as many blocks each."""

    place: slice
    columns: torch.Tensor
    blocks: torch.Tensor


class BlockProducts:
    """Single-precision products of a matrix with blocks of vectors.

    Rows of blocks are put in the order of their numbers of blocks. Those with equally
    many are then one batch: what they multiply is gathered, and multiplied at once.

    Args:
        matrix: Square, in square blocks, ``(n, n)``.
        n_vectors: In a block of vectors; others will do, but less fast.
    """

    def __init__(self, matrix: sparse.bsr_array, n_vectors: int) -> None:
        self.size = matrix.blocksize[0]
        counts = np.diff(matrix.indptr)
        self._order = np.argsort(counts, kind="stable")
        self._place = np.empty_like(self._order)
        self._place[self._order] = np.arange(len(counts))
        self.shape = (len(counts), self.size)
        self._rows = list(self._batches(matrix, counts[self._order], n_vectors))

    def _batches(
        self, matrix: sparse.bsr_array, counts: NDArray[np.integer], n_vectors: int
    ) -> Iterator[_Rows]:
        start = 0
        while start < len(counts):
            count = int(counts[start])
            step = max(1, _NUMBERS // max(1, count * self.size * n_vectors))
            last = np.searchsorted(counts, count, side="right")
            end = int(min(start + step, last))
            first = matrix.indptr[self._order[start:end], None]
            chosen = first + np.arange(count)
            columns = self._place[matrix.indices[chosen].ravel()]
            blocks = matrix.data[chosen].astype(np.float32, copy=False)
            blocks = blocks.transpose(0, 2, 1, 3).reshape(end - start, self.size, -1)
            yield _Rows(
                place=slice(start, end),
                columns=torch.from_numpy(columns),
                blocks=torch.from_numpy(np.ascontiguousarray(blocks)),
            )
            start = end

    def add_to(
        self,
        target: torch.Tensor,
        vectors: torch.Tensor,
        *,
        keep: float = 0.0,
        scale: float = 1.0,
        shift: float = 0.0,
    ) -> torch.Tensor:
        """Make the target ``keep`` of itself and ``scale`` of ``(A - shift) vectors``.

        Args:
            target: Shape ``(n_blocks, block, n_vectors)``, changed in place.
            vectors: Same shape, other memory.
            keep: If 0, what the target holds is not looked at.
            scale: Of the product.
            shift: Times the identity, less than the matrix.
        """
        flat = vectors.view(len(vectors), -1)
        for rows in self._rows:
            part = target[rows.place]
            beside = flat.index_select(0, rows.columns)
            beside = beside.view(len(part), -1, vectors.shape[2])
            part.baddbmm_(rows.blocks, beside, beta=keep, alpha=scale)
            if shift:
                part.add_(vectors[rows.place], alpha=-scale * shift)
        return target

    def __matmul__(self, vectors: torch.Tensor) -> torch.Tensor:
        return self.add_to(torch.empty_like(vectors), vectors)

    def in_matrix_order(self, vectors: torch.Tensor) -> NDArray[np.float64]:
        """Vectors as the matrix has its rows, ``(n, n_vectors)``."""
        ordered = vectors[torch.from_numpy(self._place)]
        return ordered.reshape(-1, vectors.shape[2]).double().numpy()


def exact_product(
    matrix: sparse.bsr_array, vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Product in double precision, of a matrix that may be kept in single.

    Args:
        matrix: In square blocks, ``(n, n)``.
        vectors: Shape ``(n, n_vectors)``.

    Returns:
        Shape ``(n, n_vectors)``.
    """
    size, starts = matrix.blocksize[0], matrix.indptr
    n_rows = len(starts) - 1
    images = np.empty_like(vectors)
    step = max(1, int(_EXACT_NUMBERS * n_rows / max(1, matrix.data.size)))
    for row in range(0, n_rows, step):
        inside = starts[row : row + step + 1]
        blocks = slice(inside[0], inside[-1])
        data = matrix.data[blocks].astype(np.float64, copy=False)
        shape = ((len(inside) - 1) * size, vectors.shape[0])
        part = (data, matrix.indices[blocks], inside - inside[0])
        place = slice(row * size, row * size + shape[0])
        images[place] = sparse.bsr_array(part, shape=shape) @ vectors
    return images
