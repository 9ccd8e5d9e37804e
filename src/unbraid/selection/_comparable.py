"""Preparing representations of the same rows for comparison by latent."""

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
    """A model that is prepared for comparison.

    Attributes:
        name: Given name, or one made from its index.
        standard: Codes or ranks with mean 0 and deviation 1, ``(n_rows, n_latents)``; 0
            for latents that are not used.
        centered: Codes with mean 0, of the same shape.
        active: Whether each latent is active, ``(n_latents,)``.
        key: Hash of the representation.
    """

    name: str
    standard: NDArray[np.float64]
    centered: NDArray[np.float64]
    active: NDArray[np.bool_]
    key: str

    @property
    def n_active(self) -> int:
        """Number of active latents."""
        return int(self.active.sum())


def read_comparable(
    caller: str,
    representations: Sequence[Coded] | Mapping[str, Coded],
    *,
    ranks: bool,
    threshold: float,
    least_used: float,
) -> list[Comparable]:
    """Read and check models of the same rows.

    Args:
        caller: Name of the calling function, for messages.
        representations: Two representations or more, see
            :func:`unsupervised_disentanglement_ranking`.
        ranks: Use ranks instead of values; ties share their mean rank.
        threshold: Nats above which a latent is active.
        least_used: Nats above which a latent is not set to 0.
    """
    models: list[Comparable] = []
    n_rows, common = 0, np.empty(0, np.int64)
    for name, given in _named(caller, representations).items():
        codes, logs, rows = coded_parts(given)
        codes = read_codes(f"{caller}: {name}", codes)
        if logs is not None:
            logs = read_log_variances(f"{caller}: {name}", codes, logs)
        n_rows, common = n_rows or len(codes), common if len(common) else rows
        if len(codes) != n_rows:
            raise ValueError(
                f"{caller}: {name} must have {n_rows} rows like the models before it, "
                f"got {len(codes)}. Encode the same data with all models."
            )
        if len(rows) and not np.array_equal(rows, common):
            raise ValueError(
                f"{caller}: {name} must have the same rows of the dataset as the "
                "models before it. Encode the same rows with all models."
            )
        nats = nats_per_latent(codes, logs)
        values = rankdata(codes, axis=0) if ranks else codes
        standard = standardize(values, np.arange(n_rows)) * (nats > least_used)
        models.append(
            Comparable(
                name=name,
                standard=standard,
                centered=codes - codes.mean(axis=0),
                active=nats > threshold,
                key=fingerprint(codes, logs),
            )
        )
    return models


def _named(
    caller: str, representations: Sequence[Coded] | Mapping[str, Coded]
) -> dict[str, Coded]:
    if isinstance(representations, Mapping):
        named = dict(representations)
    # A single table would look like many models with one latent each.
    elif getattr(representations, "ndim", 3) != 3 or isinstance(
        representations, Representation | str
    ):
        raise ValueError(
            f"{caller} needs a list or mapping of models, got "
            f"{type(representations).__name__}. Put the codes of the models into a "
            "list."
        )
    else:
        named = {f"model_{i}": model for i, model in enumerate(representations)}
    if len(named) < 2:
        raise ValueError(f"{caller} needs at least two models, got {len(named)}.")
    return named


def coded_parts(given: Any) -> tuple[Any, Any, NDArray[np.int64]]:
    """Return codes, log-variances or ``None``, and rows, which may be empty."""
    if isinstance(given, Representation):
        return given.codes, given.log_variances, given.rows
    codes, logs = given if isinstance(given, tuple) else (given, None)
    return codes, logs, np.empty(0, np.int64)


def nats_per_latent(
    codes: NDArray[np.float64], logs: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the divergence of each latent; infinite if only its codes are known.

    It is 0 for constant latents.
    """
    if logs is None:
        return np.where((codes != codes[0]).any(axis=0), np.inf, 0.0)
    details = kl_per_latent(codes, logs).details
    return np.array([details[f"latent_{k}"] for k in range(codes.shape[1])])
