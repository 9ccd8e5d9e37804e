"""Surrogate labels: active latents of a model, used instead of known factors."""

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import CheckpointFormatError, atomic_write
from unbraid.metrics import BINS, kl_per_latent, to_bins
from unbraid.representation import Representation

# Errors that numpy raises for a damaged archive or something other than an array.
_DAMAGED = (
    *(AttributeError, EOFError, LookupError, OSError, RuntimeError, TypeError),
    *(ValueError, zipfile.BadZipFile, zlib.error),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class SurrogateLabels:
    """Means of the active latents of a model.

    Attributes:
        rows: Rows of the dataset that have labels, ``(n,)``.
        values: One column per active latent, ``(n, n_active)``.
        latents: Indices of the active latents, ``(n_active,)``.
        kl: KL divergence of every latent of the model, in nats, ``(n_latents,)``.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    latents: NDArray[np.int64]
    kl: NDArray[np.float64]

    @classmethod
    def from_codes(
        cls, codes: Representation, *, threshold: float = 1.0
    ) -> "SurrogateLabels":
        """Return the codes of the active latents as labels of their rows.

        Args:
            codes: Codes of a variational model, with their rows in the dataset.
            threshold: KL divergence in nats above which a latent is active.

        Example:
            >>> means = np.array([[-2.0, 0.0], [2.0, 0.0]])
            >>> narrow = np.array([[-6.0, 0.0], [-6.0, 0.0]])
            >>> codes = Representation(
            ...     means, log_variances=narrow, rows=np.array([4, 7])
            ... )
            >>> labels = SurrogateLabels.from_codes(codes)
            >>> labels.latents.tolist(), labels.values[:, 0].tolist()
            ([0], [-2.0, 2.0])
        """
        if codes.log_variances is None:
            raise ValueError(
                "Surrogate labels need codes with log-variances. Use a model trained "
                "with a variational objective."
            )
        details = kl_per_latent(codes.codes, codes.log_variances).details
        kl = np.array([details[f"latent_{k}"] for k in range(codes.codes.shape[1])])
        latents = np.flatnonzero(kl > threshold)
        values = np.asarray(codes.codes[:, latents], dtype=np.float64)
        return cls(rows=codes.rows, values=values, latents=latents, kl=kl)

    def binned(self, bins: int) -> NDArray[np.int64]:
        """Assign each label to a bin of equal width, counted from 0.

        Args:
            bins: Number of bins, from the smallest to the largest label of a latent.

        Returns:
            Bin numbers, ``(n, n_active)``.
        """
        binned = np.empty(self.values.shape, dtype=np.int64)
        for k, column in enumerate(self.values.T):
            binned[:, k] = to_bins(column, bins)
        return binned

    def save(self, path: Path) -> None:
        """Write to an ``.npz`` file, replacing an existing file."""
        with atomic_write(path) as file:
            np.savez(file, **vars(self))

    @classmethod
    def load(cls, path: Path) -> "SurrogateLabels":
        """Read a file that :meth:`save` wrote."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return cls(**{name: arrays[name] for name in arrays})
        except _DAMAGED as error:
            raise CheckpointFormatError(
                f"Cannot read the surrogate labels in {path}: the file is damaged or "
                "of another kind. Delete it, and the same call writes it again."
            ) from error


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels of several stages side by side, each for the rows of its stage.

    Attributes:
        rows: Rows of the dataset, ``(n,)``, sorted.
        values: Bin numbers, ``(n, n_labels)``; NaN where a row has no such label.
        names: Names of the labels.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    names: tuple[str, ...]

    @classmethod
    def join(
        cls,
        stages: Sequence[tuple[str, SurrogateLabels]],
        *,
        bins: int = BINS,
        most: int = 10_000,
        generator: np.random.Generator,
    ) -> "LabelTable":
        """Join the labels of several stages into one table.

        The labels of a stage are binned over all images of that stage, before any rows
        are drawn.

        Args:
            stages: Name and labels of each stage.
            bins: Number of equal-width bins for each label.
            most: Maximum number of rows per stage, drawn at random.
            generator: Random generator for the draw.
        """
        kept, names = [], []
        for name, labels in stages:
            n_rows = len(labels.rows)
            chosen = np.arange(n_rows)
            if n_rows > most:
                chosen = np.sort(generator.choice(n_rows, most, replace=False))
            kept.append((labels.rows[chosen], labels.binned(bins)[chosen]))
            names += [f"{name} latent {k}" for k in labels.latents]
        rows = np.unique(np.concatenate([rows for rows, _ in kept]))
        values = np.full((len(rows), len(names)), np.nan)
        column = 0
        for own, labels in kept:
            columns = slice(column, column + labels.shape[1])
            values[np.searchsorted(rows, own), columns] = labels
            column = columns.stop
        return cls(rows, values, tuple(names))

    def label(self, codes: Representation) -> Representation:
        """Select the codes whose rows are in the table, with its labels as factors."""
        common, own, theirs = np.intersect1d(
            self.rows, codes.rows, assume_unique=True, return_indices=True
        )
        logs = codes.log_variances
        kinds: tuple[Any, ...] = ("ordinal",) * len(self.names)
        return replace(
            codes,
            codes=codes.codes[theirs],
            log_variances=None if logs is None else logs[theirs],
            factors=self.values[own],
            factor_names=self.names,
            factor_kinds=kinds,
            rows=common,
        )
