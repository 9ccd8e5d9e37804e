"""report.html: what was asked, what was found, and how sure it is, on one page."""

import os
from pathlib import Path

from unbraid.data import AbstractDataset
from unbraid.foundation import atomic_write, expand_user
from unbraid.reports.figures._outputs import require_own_page

from ._discovery_page import discovery_page
from ._discovery_record import DiscoveryRecord, read_discovery
from ._page import Page, render
from ._run_page import run_page
from ._study_page import study_page

_RUN_FILES = ("run.json", "spec.json", "status.json", "model.json")


def write_report(
    folder: str | os.PathLike[str] | DiscoveryRecord,
    path: str | os.PathLike[str] | None = None,
    *,
    data: AbstractDataset | None = None,
    result: Path | None = None,
) -> Path:
    """Write a page about a discovery, a study or a single run.

    The page is one file that opens without a network and holds its figures and their
    numbers. It is made from what is in the folder; nothing is trained, and what is not
    finished or failed is said at its top.

    Args:
        folder: Folder of ``unbraid discover``, ``unbraid study run`` or ``unbraid
            train``, or of a saved model; or a discovery in memory.
        path: File to write; ``report.html`` in the folder when not given.
        data: What a single run was trained on, if its folder does not say so.
        result: Where ``discovery.json`` and the chosen model of a discovery are, if not
            in the folder, such as ``history/1`` within it.

    Returns:
        Where the page is.

    Raises:
        FileNotFoundError: If the folder holds nothing to report on.
        FileExistsError: If the path is that of a file that is no page of ours.

    Example:
        >>> import tempfile
        >>> from unbraid.data import XYSquares
        >>> from unbraid.training import fit
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run = fit("vae", squares, steps=1, n_latents=2, out=folder + "/run")
        ...     write_report(run.folder, data=squares).name
        'report.html'
    """
    source = folder if isinstance(folder, DiscoveryRecord) else expand_user(folder)
    own = source.folder if isinstance(source, DiscoveryRecord) else source
    target = own / "report.html" if path is None else expand_user(path)
    require_own_page(target)
    page = _page(source, data, result)
    beside = target.parent / "explorer.html"
    explorer = beside.name if beside.is_file() else ""
    text = render(page, explorer=explorer)
    with atomic_write(target, follow=True) as file:
        # Halves of characters, which file names may hold, have no bytes.
        file.write(text.encode(errors="replace"))
    return target


def _page(
    folder: Path | DiscoveryRecord, data: AbstractDataset | None, result: Path | None
) -> Page:
    if isinstance(folder, DiscoveryRecord):
        return discovery_page(folder)
    if (folder / "plan.json").is_file():
        return discovery_page(read_discovery(folder, result))
    if (folder / "study.yaml").is_file():
        return study_page(folder)
    if any((folder / name).is_file() for name in _RUN_FILES):
        return run_page(folder, data)
    raise FileNotFoundError(
        f"write_report: expected the folder of a discovery, a study, a run or a model, "
        f"got {str(folder)!r}, which holds none of them."
    )
