"""Progress on a terminal, and none in a pipe."""

from tqdm import tqdm


def progress_bar(
    total: int | None, name: str, *, unit: str, wanted: bool = True
) -> tqdm:
    """Progress bar on the standard error, if wanted and if that is a terminal.

    Args:
        total: Number of units to come, if known.
        name: What goes on.
        unit: Such as ``"B"`` for bytes.
        wanted: False for no bar in any case.
    """
    return tqdm(
        total=total,
        desc=name,
        unit=unit,
        unit_scale=True,
        disable=None if wanted else True,  # None: unless it is a terminal
    )
