"""How many threads PyTorch uses."""

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def torch_threads(n_threads: int) -> Iterator[None]:
    """Let PyTorch use this many threads within the block.

    Example:
        >>> with torch_threads(1):
        ...     torch.get_num_threads()
        1
    """
    former = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        torch.set_num_threads(former)
