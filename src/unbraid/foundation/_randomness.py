"""Independent, named streams of random numbers from one seed.

Everything random in unbraid comes from here: a seed and a name give a generator, and
the same seed and name give the same numbers on every machine. Streams with different
names are independent, so that drawing more from one never changes another.
"""

import hashlib
import operator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def numpy_generator(seed: int, *name: str | int) -> np.random.Generator:
    """Return the numpy generator of a named stream.

    Args:
        seed: Seed, an integer from 0.
        name: Name of the stream, as texts and counters: ``"batches", 7``.

    Example:
        >>> a, b = numpy_generator(0, "batches"), numpy_generator(0, "batches")
        >>> int(a.integers(1000)) == int(b.integers(1000))
        True
    """
    return np.random.Generator(np.random.Philox(key=_digest(seed, name)))


def torch_generator(
    seed: int, *name: str | int, device: "str | torch.device" = "cpu"
) -> "torch.Generator":
    """Return the torch generator of a named stream, see :func:`numpy_generator`.

    Example:
        >>> import torch
        >>> a, b = torch_generator(0, "posterior"), torch_generator(0, "batches")
        >>> bool(torch.equal(torch.rand(3, generator=a), torch.rand(3, generator=b)))
        False
    """
    import torch  # takes seconds, and data and reports do not need it

    # torch takes 64-bit seeds and rejects the upper half of the range on some devices.
    seed_63 = _digest(seed, name) & (2**63 - 1)
    return torch.Generator(device=device).manual_seed(seed_63)


def hashed_bytes(
    seed: int, indices: NDArray[np.integer], n_bytes: int
) -> NDArray[np.uint8]:
    """Return random bytes for each index that depend on seed and index only.

    The same index gets the same bytes in any batch, in any order and in any process,
    which a generator cannot guarantee. Uses the output function of SplitMix64.

    Args:
        seed: Seed, an integer from 0.
        indices: Indices, ``(n,)``.
        n_bytes: Number of bytes per index.

    Returns:
        Uniform bytes, shape ``(n, n_bytes)``.

    Example:
        >>> one = hashed_bytes(0, np.array([5]), 4)
        >>> two = hashed_bytes(0, np.array([3, 5]), 4)
        >>> bool((one[0] == two[1]).all())
        True
    """
    n_blocks = -(-n_bytes // 8)
    key = np.uint64(_digest(seed, ("hashed_bytes",)) & (2**64 - 1))
    # The start of each index's sequence is itself scrambled, or adjacent indices
    # would share most of their bytes.
    start = _scramble(np.asarray(indices).astype(np.uint64) * _GOLDEN + key)
    steps = np.arange(1, n_blocks + 1, dtype=np.uint64) * _GOLDEN
    blocks = _scramble(start[:, None] + steps)
    # Little-endian on every machine, so that the bytes are the same everywhere.
    return blocks.astype("<u8", copy=False).view(np.uint8)[:, :n_bytes]


def _scramble(blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply the output function of SplitMix64 (Steele, Lea and Flood 2014) in place."""
    blocks ^= blocks >> np.uint64(30)
    blocks *= _MIX_1
    blocks ^= blocks >> np.uint64(27)
    blocks *= _MIX_2
    blocks ^= blocks >> np.uint64(31)
    return blocks


def check_seed(seed: int) -> int:
    """Return a seed as a plain integer, after checking that it is not negative."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"seed must be a non-negative integer, got {seed!r}.")
    return number


def _digest(seed: int, name: tuple[str | int, ...]) -> int:
    # Plain integers, because numpy's print differently; repr keeps ("a", "b") and
    # ("ab",) apart, and 1 and "1".
    parts = (part if isinstance(part, str) else operator.index(part) for part in name)
    text = repr((check_seed(seed), *parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "little")
