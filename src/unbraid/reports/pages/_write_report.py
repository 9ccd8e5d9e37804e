"""Writing the report page of a discovery, a study or a run."""

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
    """Write a report page about a discovery, a study or a single run.

    The page is a single file that contains its figures and their numbers, and opens
    without a network connection. Nothing is trained. Unfinished and failed runs are
    listed at the top.

    Args:
        folder: Folder of ``unbraid discover``, ``unbraid study run`` or ``unbraid
            train``, or of a saved model; or a discovery in memory.
        path: Path of the page. Default: ``report.html`` in the folder.
        data: Training data of a single run, if its folder does not name them.
        result: Folder with ``discovery.json`` and the chosen model, such as
            ``history/1`` in the folder of a discovery. Default: ``folder``.

    Returns:
        Path of the page.

    Raises:
        FileNotFoundError: If the folder is none of these.
        FileExistsError: If the path is a file that unbraid did not write.

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
    page = _make_page(source, data, result)
    explorer = target.parent / "explorer.html"
    text = render(page, explorer=explorer.name if explorer.is_file() else "")
    with atomic_write(target, follow=True) as file:
        # File names may contain lone surrogates, which cannot be encoded.
        file.write(text.encode(errors="replace"))
    return target


def _make_page(
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
        f"{str(folder)!r} is not the folder of a discovery, a study, a run or a model."
    )
