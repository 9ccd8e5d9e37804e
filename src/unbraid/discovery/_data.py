"""Data of a discovery: from anywhere, as text that every worker can open."""

import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.data import (
    DATASETS,
    AbstractDataset,
    CachedDataset,
    DataSpec,
    ImageFolder,
    as_dataset,
    average_blocks,
    open_cached,
)
from unbraid.data.own import list_pictures, open_first_frame
from unbraid.foundation import atomic_write, expand_user, naming, numpy_generator

FEWEST = 32
"""Different images without which there is nothing to learn."""

_LOOKED_AT = 1_000
_PART = 4_096
_PICTURES_LOOKED_AT = 50
_SIZES = (8, 16, 32, 64)


@dataclass(frozen=True, eq=False)
class Source:
    """Data that a discovery can use.

    Attributes:
        data: Absolute path or name, and options, as workers open it.
        content: The dataset and its fingerprint, which workers in this process share.
        names: Names of the files of the images; empty if they have none.
    """

    data: DataSpec
    content: CachedDataset
    names: tuple[str, ...] = ()

    @property
    def dataset(self) -> AbstractDataset:
        """The opened dataset."""
        return self.content.dataset


def read_source(data: Any, folder: Path) -> Source:
    """Return data that workers can open, after checking that they can be learned from.

    Args:
        data: Name, path or options as on the command line, a dataset, or an array of
            images.
        folder: Folder in which data that are only in memory are written to files.

    Raises:
        ValueError: If there are too few different images.
    """
    open_cached.cache_clear()  # the data may have changed since an earlier call
    if isinstance(data, str | Path):
        spec = _make_absolute(str(data))
        content = open_cached(spec)
        with naming(str(data).partition(":")[0]):
            _check_variety(content.dataset)
    else:
        spec = _keep(as_dataset(data), folder)
        content = open_cached(spec)
        _check_variety(content.dataset)
    dataset = content.dataset
    if isinstance(dataset, ImageFolder):
        _require_apart(Path(dataset.path), folder)
    names = dataset.paths if isinstance(dataset, ImageFolder) else ()
    return Source(spec, content, names)


def _require_apart(pictures: Path, folder: Path) -> None:
    """Refuse an output folder among the pictures: the next call would read it."""
    if folder.resolve().is_relative_to(expand_user(pictures).resolve()):
        raise ValueError(
            "discover: the output folder must be outside of the pictures, got "
            f"{str(folder)!r}. Choose another with --out."
        )


def _make_absolute(text: str) -> DataSpec:
    """Add the whole path, and for a folder the size that its pictures have."""
    with naming(text.partition(":")[0]):
        spec = DataSpec.parse(text)
        kind, options = spec.resolve()
    path = expand_user(spec.name)
    # A name of the catalogue is no path, also where there is a folder of this name.
    if spec.name in DATASETS or ":" in str(path.resolve()):
        return spec
    found = {}
    if kind is ImageFolder:
        found = _look_at_pictures(path, videos=options.get("videos", False))
    extra = {key: found[key] for key in found if key not in options}
    options = {**spec.options, **extra}
    return DataSpec(name=str(path.resolve()), options=options, views=spec.views)


def _look_at_pictures(path: Path, *, videos: bool) -> dict[str, int]:
    """Return a size up to 64 and channels that lose little: gray if all are gray."""
    pictures = list_pictures(path, videos=videos)
    folder = path.parent if path.is_file() else path
    every = max(1, len(pictures) // _PICTURES_LOOKED_AT)
    sides, is_gray = [], True
    for picture in pictures[::every]:
        try:
            with (
                warnings.catch_warnings(action="ignore"),
                open_first_frame(folder / picture.name) as image,
            ):
                sides.append(min(image.size))
                is_gray &= image.mode in ("1", "L", "I;16", "I", "LA", "F")
        except Exception:  # broken bytes lead Pillow to any of them
            continue  # the folder's own reader says what is wrong with it
    if not sides:
        return {}
    side = float(np.median(sides))
    size = min(_SIZES, key=lambda size: abs(np.log2(size / side)))
    return {"image_size": size} | ({"channels": 1} if is_gray else {})


def downscale(source: Source, factor: int, folder: Path) -> Source:
    """Return the same data with smaller images.

    The pictures of a folder are read again in the smaller size, so that a model can
    read other pictures in the same way. Other images are averaged over blocks of
    pixels and written to files.

    Args:
        source: The data.
        factor: Number of pixels that become one, in each direction.
        folder: Folder for the files.
    """
    if isinstance(source.dataset, ImageFolder):
        height, width = (-(-side // factor) for side in source.dataset.image_shape[1:])
        size = height if height == width else [height, width]
        options = {**source.data.options, "image_size": size}
        spec = DataSpec(name=source.data.name, options=options)
    else:
        spec = _keep(source.dataset, folder, factor=factor)
    return Source(spec, open_cached(spec), source.names)


def reopen_source(source: Source, spec: DataSpec, factor: int, folder: Path) -> Source:
    """Return the data that a plan trains on, which may be smaller than those given.

    Args:
        source: Data as they were given.
        spec: Data of the plan.
        factor: Number of pixels that became one, in each direction.
        folder: Folder for files of smaller images.
    """
    if factor == 1:
        return source
    try:
        return Source(spec, open_cached(spec), source.names)
    except (OSError, ValueError):  # the files were deleted
        return downscale(source, factor, folder)


def _keep(dataset: AbstractDataset, folder: Path, *, factor: int = 1) -> DataSpec:
    """Write a dataset to files, and return what opens them."""
    if dataset.weights is not None:
        raise ValueError(
            "discover cannot use data whose rows have weights. Draw rows by their "
            "weights beforehand."
        )
    # By content, so that other data never take the place of these.
    smaller = f"-{factor}" if factor > 1 else ""
    folder = folder.resolve() / f"{dataset.fingerprint()[:16]}{smaller}"
    if any(mark in str(folder) for mark in ":,'\""):
        raise ValueError(
            "discover keeps these data in the output folder, whose path must not "
            f"contain colons, commas or quotes, got {str(folder)!r}. Choose another "
            "folder with --out."
        )
    rows = np.arange(len(dataset))
    images, table = folder / "images.npy", folder / "factors.csv"
    # Smaller images are named after their content, and take long to make.
    if factor == 1 or not _is_array_file(images):
        with atomic_write(images) as file:
            np.save(file, _read_images(dataset, factor))
    options: dict[str, Any] = {}
    if len(dataset.image_shape) == 3:
        options["channels_first"] = True
    factors = dataset.factors(rows)
    if factors is not None:
        frame = pd.DataFrame(factors, columns=list(dataset.factor_names))
        with atomic_write(table) as file:
            file.write(frame.to_csv(index=False).encode())
        options["factors"] = str(table)
    return DataSpec(name=str(images), options=options)


def _is_array_file(path: Path) -> bool:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False).ndim == 4
    except (OSError, ValueError, EOFError):
        return False


def _read_images(dataset: AbstractDataset, factor: int) -> NDArray[Any]:
    """Return all images, smaller by a factor; a part at a time, to save memory."""
    if factor == 1:
        return dataset.images(np.arange(len(dataset)))
    parts = np.array_split(np.arange(len(dataset)), -(-len(dataset) // _PART))
    return np.concatenate(
        [average_blocks(dataset.images(rows), factor) for rows in parts]
    )


def _check_variety(dataset: AbstractDataset) -> None:
    n_rows = min(len(dataset), _LOOKED_AT)
    generator = numpy_generator(0, "variety")
    images = dataset.images(generator.choice(len(dataset), n_rows, replace=False))
    flat = np.ascontiguousarray(images).reshape(n_rows, -1)
    n_different = len(np.unique(flat, axis=0))
    if n_different < FEWEST:
        among = f"{n_different} different among {n_rows:,}"
        raise ValueError(
            f"discover needs at least {FEWEST} different images, got "
            f"{n_rows if n_different == n_rows else among}."
        )


def sample_rows(dataset: AbstractDataset, n_rows: int) -> NDArray[np.int64]:
    """Draw the rows on which models are compared, the same for every model."""
    n_rows = min(n_rows, len(dataset))
    generator = numpy_generator(0, "compared rows")
    return np.sort(generator.choice(len(dataset), n_rows, replace=False))


def require_writable(folder: Path) -> None:
    """Make a folder, and check that it can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(
            f"discover: the folder {str(folder)!r} cannot be written to "
            f"({error.strerror}). Choose another with --out."
        ) from error
