"""Memory for batches that is used again as soon as nobody looks at it.

A fresh block of 12 MB costs more in page faults than the conversion that fills it, on a
C library that gives large blocks back to the kernel. A pool avoids that and stays safe:
a block is handed out again only when no array, tensor or autograd graph holds it.
"""

import math
import sys
import threading

import numpy as np
from numpy.typing import NDArray

# What getrefcount says of an array that only a list holds; it differs between Pythons.
_PROBE = [np.empty(0)]
_HELD_BY_THE_LIST_ONLY = sys.getrefcount(_PROBE[0])


class BufferPool:
    """Float32 arrays of one call after another, in memory that is recycled.

    Args:
        most: Blocks kept at most. When all are in use, a fresh one is made and not
            kept, so that nothing breaks for a caller who collects batches.

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
        """Array of a shape, with arbitrary content."""
        with self._lock:  # once the view is made, it holds the block
            return self._free_block(math.prod(shape)).reshape(shape)

    def _free_block(self, size: int) -> NDArray[np.float32]:
        # Another size means another batch size or dataset: the old blocks are useless.
        self._blocks = [block for block in self._blocks if block.size == size]
        for position in range(len(self._blocks)):
            if sys.getrefcount(self._blocks[position]) == _HELD_BY_THE_LIST_ONLY:
                return self._blocks[position]
        block = np.empty(size, dtype=np.float32)
        if len(self._blocks) < self._most:
            self._blocks.append(block)
        return block
