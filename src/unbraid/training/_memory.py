"""Memory that a process gives back only to ask for it again at every step."""

import ctypes
import sys

# Numbers of the options in glibc's malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3


def keep_freed_memory() -> bool:
    """Tell the C library to keep what was freed, for the rest of the process.

    By default glibc gives large blocks back to the kernel at once, which then has to
    clear them anew at every training step. For programs that train and little else;
    never called by the library itself.

    Returns:
        Whether it was done: false where there is no glibc.
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
