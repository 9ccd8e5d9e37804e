"""Keeping freed memory in the process (glibc)."""

import ctypes
import sys

# Numbers of the options in glibc's malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3


def keep_freed_memory() -> bool:
    """Keep freed memory for the rest of the process, to make training faster.

    By default, glibc returns large blocks to the kernel at once, which then has to
    clear them again at every training step. For programs that do little else than
    train; the library itself never calls this.

    Returns:
        Whether it succeeded; false without glibc.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False  # another C library, such as musl
    done = [
        # Older versions refuse a threshold above 32 MB.
        mallopt(_MMAP_THRESHOLD, 2**30) or mallopt(_MMAP_THRESHOLD, 2**25),
        mallopt(_TRIM_THRESHOLD, 2**30),
        mallopt(_TOP_PAD, 2**26),
    ]
    return all(done)
