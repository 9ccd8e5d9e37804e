"""Representations of the same rows, made ready to be compared latent by latent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from unbraid.metrics import kl_per_latent, read_codes, standardize
from unbraid.metrics.unsupervised import read_log_variances
from unbraid.representation import Representation

from ._pair_cache import fingerprint

Coded = Representation | ArrayLike | tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparable:
    """A model ready to be compared.

    Attributes:
        name: As given, or by its place.
        standard: Codes or ranks with mean 0 and deviation 1, ``(n_rows, n_latents)``; 0
            for latents that take no part.
        active: Latents that count, ``(n_latents,)``.
        key: Stands for the content of the representation.
    """

    name: str
    standard: NDArray[np.float64]
    active: NDArray[np.bool_]
    key: str

    @property
    def n_active(self) -> int:
        """Number of latents that count."""
        return int(self.active.sum())


def read_comparable(
    who: str,
    representations: Sequence[Coded] | Mapping[str, Coded],
    *,
    ranks: bool,
    threshold: float,
    least_used: float,
) -> list[Comparable]:
    """Models of the same rows, or a clear error.

    Args:
        who: Who asks, for messages.
        representations: Two or more, see :func:`unsupervised_disentanglement_ranking`.
        ranks: Take ranks, equal values sharing their mean rank, in place of values.
        threshold: Nats above which a latent is active.
        least_used: Nats above which a latent is not set to 0.
    """
    models: list[Comparable] = []
    n_rows, common = 0, np.empty(0, np.int64)
    for name, given in _named(who, representations).items():
        codes, logs, rows = coded_parts(given)
        codes = read_codes(f"{who}: {name}", codes)
        if logs is not None:
            logs = read_log_variances(f"{who}: {name}", codes, logs)
        n_rows, common = n_rows or len(codes), common if len(common) else rows
        if len(codes) != n_rows:
            raise ValueError(
                f"{who}: expected {name} to have {n_rows} rows as those before it, "
                f"got {len(codes)}. Encode the same data with all models."
            )
        if len(rows) and not np.array_equal(rows, common):
            raise ValueError(
                f"{who}: expected {name} to have the same rows of the dataset as the "
                "models before it, got others. Encode the same rows with all models."
            )
        nats = nats_per_latent(codes, logs)
        values = rankdata(codes, axis=0) if ranks else codes
        standard = standardize(values, np.arange(n_rows)) * (nats > least_used)
        models.append(
            Comparable(
                name=name,
                standard=standard,
                active=nats > threshold,
                key=fingerprint(codes, logs),
            )
        )
    return models


def _named(
    who: str, representations: Sequence[Coded] | Mapping[str, Coded]
) -> dict[str, Coded]:
    if isinstance(representations, Mapping):
        named = dict(representations)
    # A single table would pass for many models of one latent each.
    elif getattr(representations, "ndim", 3) != 3 or isinstance(
        representations, Representation | str
    ):
        raise ValueError(
            f"{who}: expected a list or mapping of models, got "
            f"{type(representations).__name__}. Put each model's codes into a list."
        )
    else:
        named = {f"model_{i}": model for i, model in enumerate(representations)}
    if len(named) < 2:
        raise ValueError(f"{who}: expected at least two models, got {len(named)}.")
    return named


def coded_parts(given: Any) -> tuple[Any, Any, NDArray[np.int64]]:
    """Codes, log-variances or ``None``, and rows, of which there may be none."""
    if isinstance(given, Representation):
        return given.codes, given.log_variances, given.rows
    codes, logs = given if isinstance(given, tuple) else (given, None)
    return codes, logs, np.empty(0, np.int64)


def nats_per_latent(
    codes: NDArray[np.float64], logs: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Divergence of each latent from the prior; infinity for what only varies."""
    if logs is None:
        return np.where((codes != codes[0]).any(axis=0), np.inf, 0.0)
    details = kl_per_latent(codes, logs).details
    return np.array([details[f"latent_{k}"] for k in range(codes.shape[1])])
