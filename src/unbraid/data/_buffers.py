"""Memory for batches, which is recycled as soon as it is no longer referenced.

A new block of 12 MB costs more in page faults than the conversion that fills it, if the
C library returns large blocks to the kernel. A pool avoids that safely: a block is
reused only when no array, tensor or autograd graph refers to it.
"""

import math
import sys
import threading

import numpy as np
from numpy.typing import NDArray

# Reference count of an array that is only in a list; it depends on the Python version.
_PROBE = [np.empty(0)]
_UNUSED_COUNT = sys.getrefcount(_PROBE[0])


class BufferPool:
    """Pool of recycled memory for float32 arrays.

    Args:
        most: Largest number of blocks in the pool. If all are in use, a new one is
            allocated outside of the pool, so that a caller may keep many batches.

    Example:
        >>> pool = BufferPool()
        >>> first = pool.empty((2, 3))
        >>> address = first.ctypes.data
        >>> pool.empty((2, 3)).ctypes.data == address    # still held by ``first``
        False
        >>> del first
        >>> pool.empty((2, 3)).ctypes.data == address
        True
    """

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._blocks: list[NDArray[np.float32]] = []
        self._lock = threading.Lock()

    def empty(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Return an array of a shape, with arbitrary content."""
        with self._lock:  # until the array refers to the block
            return self._free_block(math.prod(shape)).reshape(shape)

    def _free_block(self, size: int) -> NDArray[np.float32]:
        # Another size means another batch size or dataset: drop the old blocks.
        self._blocks = [block for block in self._blocks if block.size == size]
        for position in range(len(self._blocks)):
            if sys.getrefcount(self._blocks[position]) == _UNUSED_COUNT:
                return self._blocks[position]
        block = np.empty(size, dtype=np.float32)
        if len(self._blocks) < self._most:
            self._blocks.append(block)
        return block
