"""Available memory, and errors in advance for work that does not fit into it."""

import contextlib
from pathlib import Path

from ._errors import NotEnoughMemoryError

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def format_bytes(n_bytes: float) -> str:
    """Format a number of bytes for people.

    Example:
        >>> format_bytes(800), format_bytes(1_500_000), format_bytes(1.1e12)
        ('800 bytes', '1.5 MB', '1.1 TB')
    """
    size, unit = float(n_bytes), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 else f"{size:,.1f} {_UNITS[unit]}"


def available_memory() -> int | None:
    """Return the bytes of memory that are still available; ``None`` if unknown."""
    limits = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        limits.append(int(fields["MemAvailable"].split()[0]) * 1024)
    container = _left_in_container(Path("/sys/fs/cgroup"))
    if container is not None:
        limits.append(container)
    return max(0, min(limits)) if limits else None


def _left_in_container(folder: Path) -> int | None:
    """Return the bytes that a container may still use; ``None`` without a limit.

    Args:
        folder: Folder of the control group, version 2.
    """
    try:
        most = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
        fields = dict(
            line.split() for line in (folder / "memory.stat").read_text().splitlines()
        )
    except (OSError, ValueError):
        return None
    # Cached files count as used, but are dropped when memory is needed.
    cached = int(fields.get("inactive_file", 0)) + int(fields.get("active_file", 0))
    return most - max(0, used - cached)


def require_memory(n_bytes: int, what: str) -> None:
    """Raise an error if work needs more memory than is available.

    Args:
        n_bytes: Bytes that the work needs.
        what: The input that needs it, for the message.

    Raises:
        NotEnoughMemoryError: If less memory is available.
    """
    available = available_memory()
    if available is not None and n_bytes > available:
        raise NotEnoughMemoryError(
            f"{what}: this needs about {format_bytes(n_bytes)} of memory, but only "
            f"{format_bytes(available)} are available."
        )
