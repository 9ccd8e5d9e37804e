"""Limiting PyTorch and numpy to one thread."""

import contextlib
from collections.abc import Iterator

from threadpoolctl import threadpool_limits

from unbraid.training import torch_threads


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread within the block."""
    with torch_threads(1), threadpool_limits(1):
        yield
