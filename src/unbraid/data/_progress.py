"""Progress bars, which are shown on terminals only."""

from tqdm import tqdm


def progress_bar(
    total: int | None, name: str, *, unit: str, enabled: bool = True
) -> tqdm:
    """Return a progress bar, which is shown if the standard error is a terminal.

    Args:
        total: Total number of units, if known.
        name: Description of the task.
        unit: Unit of the total, such as ``"B"`` for bytes.
        enabled: Whether the bar may be shown at all.
    """
    return tqdm(
        total=total,
        desc=name,
        unit=unit,
        unit_scale=True,
        disable=None if enabled else True,  # None: disabled unless on a terminal
    )
