"""Representation and encode: codes of a dataset."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from unbraid.data import (
    DATASETS,
    AbstractDataset,
    ImageFolder,
    Kind,
    as_dataset,
    float_images,
    resize_dataset,
)
from unbraid.foundation import (
    DataFormatError,
    atomic_write,
    check_shape,
    expand_user,
)

_FORMAT = 1
# Fields of common encoders with one vector per image, in order of preference.
_EMBEDDINGS = ("image_embeds", "pooler_output", "last_hidden_state", "logits")


class HasEncode(Protocol):
    """An encoder such as a model of unbraid."""

    def encode(self, images: Any, /) -> Any:
        """Return the posterior or the codes of images."""
        ...


class HasTransform(Protocol):
    """An encoder such as those of scikit-learn."""

    def transform(self, X: Any, /) -> Any:
        """Return the codes of flattened images."""
        ...


Encoder = HasEncode | HasTransform | Callable[[torch.Tensor], Any] | ArrayLike
"""What :func:`encode` takes as a model: an encoder, or codes that are ready."""


@dataclass(frozen=True, eq=False)
class Representation:
    """Codes of a set of images, and the factors behind them if they are known.

    Only the codes may be given by position.

    Attributes:
        codes: One row per image, ``(n, n_latents)``. The codes of a VAE are the means
            of its posteriors.
        log_variances: Logarithms of the variances of a VAE's posteriors, with the shape
            of the codes, or ``None``.
        factors: Factor values, ``(n, n_factors)``, or ``None``.
        factor_names: Name of each factor; may be empty.
        factor_kinds: Kind of each factor; may be empty.
        rows: Index of each row in the dataset, ``(n,)``; empty if it is not known.
        source: Names of the encoder and of the dataset, for readers.

    Raises:
        ValueError: If shapes or numbers of rows do not agree.

    Example:
        >>> codes = Representation(np.eye(3), factors=np.array([[0], [1], [2]]))
        >>> codes.codes.shape, codes.factors.shape
        ((3, 3), (3, 1))
    """

    codes: NDArray[np.floating]
    _: KW_ONLY
    log_variances: NDArray[np.floating] | None = None
    factors: NDArray[Any] | None = None
    factor_names: tuple[str, ...] = ()
    factor_kinds: tuple[Kind, ...] = ()
    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("codes", "log_variances", "factors", "rows"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, np.ndarray):
                object.__setattr__(self, name, _array(name, given))
        shape = np.shape(self.codes)
        check_shape("Representation: codes", self.codes, ("n_rows", "n_latents"))
        if self.log_variances is not None:
            check_shape("Representation: log_variances", self.log_variances, shape)
        if self.factors is not None:
            self._check_factors(self.factors)
        if np.shape(self.rows) not in ((0,), shape[:1]):
            raise ValueError(
                f"Representation: rows must have one index for each of the {shape[0]} "
                f"rows of codes, got shape {np.shape(self.rows)}."
            )

    def _check_factors(self, factors: NDArray[Any]) -> None:
        wanted = (len(self.codes), "n_factors")
        check_shape("Representation: factors", factors, wanted)
        for name in ("factor_names", "factor_kinds"):
            given = getattr(self, name)
            if given and len(given) != factors.shape[1]:
                raise ValueError(
                    f"Representation: {name} must have one entry for each of the "
                    f"{factors.shape[1]} factors, got {len(given)}."
                )

    def at(self, positions: NDArray[np.integer]) -> "Representation":
        """Return the representation of some rows, by their positions."""
        parts = {
            name: None if array is None else array[positions]
            for name, array in (
                ("codes", self.codes),
                ("log_variances", self.log_variances),
                ("factors", self.factors),
                ("rows", self.rows if len(self.rows) else None),
            )
        }
        return replace(
            self, **{key: value for key, value in parts.items() if value is not None}
        )

    def save(self, path: str | Path) -> None:
        """Write to one ``.npz`` file, replacing it."""
        about = {
            "format": _FORMAT,
            "factor_names": self.factor_names,
            "factor_kinds": self.factor_kinds,
            "source": self.source,
        }
        arrays: dict[str, Any] = {
            "codes": self.codes,
            "rows": self.rows,
            "about": np.array(json.dumps(about)),
        }
        for name in ("log_variances", "factors"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        with atomic_write(Path(path)) as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Representation":
        """Read a file that :meth:`save` wrote."""
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            if "about" not in arrays:
                raise DataFormatError(
                    f"{path}: this is not a saved representation; its arrays are "
                    f"{', '.join(arrays)}."
                )
            about = json.loads(str(arrays["about"]))
            if about["format"] > _FORMAT:
                raise DataFormatError(
                    f"{path}: the file has format {about['format']}, but this version "
                    f"of unbraid reads formats up to {_FORMAT}. Update unbraid to read "
                    "it."
                )
            return cls(
                codes=arrays["codes"],
                log_variances=arrays.get("log_variances"),
                factors=arrays.get("factors"),
                factor_names=tuple(about["factor_names"]),
                factor_kinds=tuple(about["factor_kinds"]),
                rows=arrays["rows"],
                source=about["source"],
            )


def encode(
    model: Encoder,
    data: Any,
    *,
    rows: ArrayLike | None = None,
    batch_size: int = 256,
    device: str | torch.device = "auto",
    progress: bool = True,
) -> Representation:
    """Encode images with any encoder.

    Args:
        model: Encoder, one of

            - an object with ``encode`` (an unbraid model), or any callable or torch
              module that takes float images in [0, 1], ``(batch, channels, height,
              width)``, on its device. Codes are the ``mean`` and ``log_variance`` of
              its output (a posterior) if it has them, else the field
              ``image_embeds``, ``pooler_output``, ``last_hidden_state`` or ``logits``,
              else the first of a tuple, else the tensor itself; everything but the
              batch is flattened;
            - an object with ``transform`` (scikit-learn), which takes flattened images
              ``(batch, channels * height * width)``;
            - an array of codes, one row per image.
        data: A dataset, an array of images ``(n, ...)`` or of vectors ``(n, length)``,
            a ``DataLoader``, or what the command line takes. Images of another size or
            number of channels than those that the model learned from are converted
            first; see :func:`prepare_data`.
        rows: Rows to encode; by default all.
        batch_size: Images per batch.
        device: Device to compute on; ``"auto"`` is that of the module's parameters, or
            the CPU.
        progress: Show a progress bar if the standard error is a terminal.

    Example:
        >>> from unbraid.data import XYSquares
        >>> tiny = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> encode(lambda images: images.mean(dim=3), tiny).codes.shape
        (64, 24)
    """
    dataset = prepare_data(model, data)
    indices = np.arange(len(dataset)) if rows is None else np.asarray(rows)
    if isinstance(model, np.ndarray | torch.Tensor | list):
        codes, log_variances = _read_codes(model, dataset, indices), None
    else:
        function, chosen = _choose_encoder(model, device)
        with evaluation_mode(model):
            pieces = _encode(function, dataset, indices, batch_size, chosen, progress)
            codes, log_variances = _join(list(pieces), model)
    if not np.isfinite(codes).all():
        raise ValueError(
            f"encode: codes must be finite, but {_name(model)} returned NaN or "
            "infinity."
        )
    return Representation(
        codes=codes,
        log_variances=log_variances,
        factors=dataset.factors(indices),
        factor_names=dataset.factor_names,
        factor_kinds=dataset.factor_kinds,
        rows=indices,
        source=f"{_name(model)} on {dataset.name}",
    )


def prepare_data(model: Any, data: Any) -> AbstractDataset:
    """Return data with images of the size and channels that a model takes.

    A model that was trained on a folder of pictures remembers how they were cropped and
    scaled, and other folders are read in the same way. Other images are resized if they
    differ from those that the model was trained on.

    Args:
        model: Model, or any encoder. Without ``image_shape``, images are not converted.
        data: Data of any kind; see :func:`encode`.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.models import fit_pca
        >>> small = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> model = fit_pca(small, n_latents=2)
        >>> prepare_data(model, XYSquares(n_squares=1)).image_shape
        (3, 8, 8)
    """
    shape = getattr(model, "image_shape", None)
    if not isinstance(shape, tuple):
        return as_dataset(data)
    framing = getattr(model, "framing", None)
    if framing is not None and isinstance(data, str | os.PathLike):
        folder = expand_user(data)
        if folder.is_dir() and os.fspath(data) not in DATASETS:
            # Read in the right size at once, because decoding pictures is slow.
            return ImageFolder(
                folder,
                image_size=(framing.height, framing.width),
                **framing.model_dump(include={"channels", "crop", "background"}),
            )
    return resize_dataset(as_dataset(data), shape, framing)


def _array(name: str, values: Any) -> NDArray[Any]:
    """Convert lists, tensors and pandas tables to an array."""
    if isinstance(values, torch.Tensor):
        return _to_numpy(values)
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(
            f"Representation: {name} must be an array, but has rows of different "
            "lengths."
        ) from None


def _read_codes(
    model: Any, dataset: AbstractDataset, indices: NDArray[np.int64]
) -> NDArray[np.floating]:
    codes = _to_numpy(model)
    if codes.ndim != 2 or len(codes) not in (len(dataset), len(indices)):
        raise ValueError(
            f"encode: codes must have shape ({len(dataset)}, n_latents), a row for "
            f"each image, got {codes.shape}."
        )
    return codes[indices] if len(codes) == len(dataset) else codes


def _choose_encoder(
    model: Any, device: str | torch.device
) -> tuple[Callable[[torch.Tensor], Any], torch.device]:
    function = getattr(model, "encode", None)
    if callable(function) or callable(model):
        return function if callable(function) else model, _choose_device(model, device)
    if callable(getattr(model, "transform", None)):
        return lambda images: model.transform(images.flatten(1).numpy()), torch.device(
            "cpu"
        )
    raise TypeError(
        "encode needs an array, a callable, or an object with encode or transform, got "
        f"{type(model).__name__}."
    )


def _choose_device(model: Any, device: str | torch.device) -> torch.device:
    if device != "auto":
        return torch.device(device)
    if isinstance(model, torch.nn.Module):
        parameter = next(model.parameters(), None)
        return torch.device("cpu") if parameter is None else parameter.device
    return torch.device("cpu")


@contextlib.contextmanager
def evaluation_mode(model: Any) -> Iterator[None]:
    """Put a torch module into evaluation mode within a block; ignore other models."""
    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    were_training = [module.training for module in modules]
    for module in modules:
        module.training = False
    try:
        yield
    finally:
        for module, was_training in zip(modules, were_training, strict=True):
            module.training = was_training


def _encode(
    function: Callable[[torch.Tensor], Any],
    dataset: AbstractDataset,
    indices: NDArray[np.int64],
    batch_size: int,
    device: torch.device,
    progress: bool,
) -> Iterator[tuple[NDArray[np.floating], NDArray[np.floating] | None]]:
    starts = range(0, len(indices), batch_size)
    hide = None if progress else True  # None shows it on a terminal
    with torch.no_grad():
        for start in tqdm(starts, desc="encoding", unit="batch", disable=hide):
            rows = indices[start : start + batch_size]
            images = float_images(dataset, rows, device=device)
            yield _read_output(function(images), len(images))


def _read_output(
    output: Any, n_images: int
) -> tuple[NDArray[np.floating], NDArray[np.floating] | None]:
    mean, log_variance = _parts(output)
    codes = _to_numpy(mean)
    if codes.ndim < 1 or len(codes) != n_images:
        raise ValueError(
            f"encode: the encoder must return one row of codes per image, got shape "
            f"{codes.shape} for {n_images} images."
        )
    flat = codes.reshape(n_images, -1)
    if log_variance is None:
        return flat, None
    return flat, _to_numpy(log_variance).reshape(n_images, -1)


def _parts(output: Any) -> tuple[Any, Any]:
    """Return the code in an encoder's output, and its log-variance if it has one."""
    if isinstance(output, torch.Tensor | np.ndarray):
        return output, None
    if isinstance(getattr(output, "mean", None), torch.Tensor):
        return output.mean, getattr(output, "log_variance", None)
    for name in _EMBEDDINGS:
        found = (
            output.get(name)
            if isinstance(output, Mapping)
            else getattr(output, name, None)
        )
        if isinstance(found, torch.Tensor):
            return found, None
    if isinstance(output, Sequence) and output and not isinstance(output, str):
        return _parts(output[0])
    raise TypeError(
        "encode: the encoder must return a tensor, an array, a posterior with a mean, "
        f"or one of {', '.join(_EMBEDDINGS)}, got {type(output).__name__}."
    )


def _join(
    pieces: list[tuple[NDArray[np.floating], NDArray[np.floating] | None]], model: Any
) -> tuple[NDArray[np.floating], NDArray[np.floating] | None]:
    if not pieces:
        raise ValueError(f"encode: there are no rows to encode with {_name(model)}.")
    codes = np.concatenate([codes for codes, _ in pieces])
    variances = [variance for _, variance in pieces if variance is not None]
    return codes, np.concatenate(variances) if variances else None


def _to_numpy(values: Any) -> NDArray[np.floating]:
    if isinstance(values, torch.Tensor):
        # numpy has no bfloat16.
        values = values.detach().cpu().float().numpy()
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"encode: codes must be numbers, got {array.dtype}.")
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _name(model: Any) -> str:
    return getattr(model, "__name__", None) or type(model).__name__
