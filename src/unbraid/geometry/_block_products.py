"""Products of a block-sparse matrix with several vectors, in a few large batches."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

_NUMBERS = 1_000_000
"""Numbers gathered per batch: 4 MB, which fit into the processor's cache."""

_EXACT_NUMBERS = 20_000_000
"""Numbers converted to double precision at a time: 160 MB."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Block rows with the same number of blocks each."""

    positions: slice
    columns: torch.Tensor
    blocks: torch.Tensor


class BlockProducts:
    """Single-precision products of a matrix with blocks of vectors.

    Block rows are sorted by their number of blocks. Rows with the same number form a
    batch, for which the vectors are gathered and multiplied at once.

    Args:
        matrix: Square matrix of square blocks, shape ``(n, n)``.
        n_vectors: Number of vectors to optimize for. Products with another number of
            vectors are correct, but slower.
    """

    def __init__(self, matrix: sparse.bsr_array, n_vectors: int) -> None:
        self.size = matrix.blocksize[0]
        counts = np.diff(matrix.indptr)
        self._order = np.argsort(counts, kind="stable")
        self._positions = np.empty_like(self._order)
        self._positions[self._order] = np.arange(len(counts))
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
            columns = self._positions[matrix.indices[chosen].ravel()]
            blocks = matrix.data[chosen].astype(np.float32, copy=False)
            blocks = blocks.transpose(0, 2, 1, 3).reshape(end - start, self.size, -1)
            yield _Rows(
                positions=slice(start, end),
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
        """Set the target to ``keep * target + scale * (A - shift * I) @ vectors``.

        Args:
            target: Array of shape ``(n_blocks, block, n_vectors)``, changed in place.
            vectors: Vectors to multiply, of the same shape, in other memory.
            keep: Factor of the present target. If 0, the target may be uninitialized.
            scale: Factor of the product.
            shift: Multiple of the identity that is subtracted from the matrix.
        """
        flat = vectors.view(len(vectors), -1)
        for rows in self._rows:
            part = target[rows.positions]
            gathered = flat.index_select(0, rows.columns)
            gathered = gathered.view(len(part), -1, vectors.shape[2])
            part.baddbmm_(rows.blocks, gathered, beta=keep, alpha=scale)
            if shift:
                part.add_(vectors[rows.positions], alpha=-scale * shift)
        return target

    def __matmul__(self, vectors: torch.Tensor) -> torch.Tensor:
        return self.add_to(torch.empty_like(vectors), vectors)

    def in_matrix_order(self, vectors: torch.Tensor) -> NDArray[np.float64]:
        """Return vectors in the order of the matrix rows, shape ``(n, n_vectors)``."""
        ordered = vectors[torch.from_numpy(self._positions)]
        return ordered.reshape(-1, vectors.shape[2]).double().numpy()


def exact_product(
    matrix: sparse.bsr_array, vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Product of a matrix with vectors in double precision.

    Args:
        matrix: Matrix of square blocks, shape ``(n, n)``, in any precision.
        vectors: Vectors as columns, shape ``(n, n_vectors)``.

    Returns:
        The product, shape ``(n, n_vectors)``.
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
        rows = slice(row * size, row * size + shape[0])
        images[rows] = sparse.bsr_array(part, shape=shape) @ vectors
    return images
