"""Matrices of mutual information and importance between factors and latents."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from unbraid.metrics import Factors, dci, mutual_information_gap, read_inputs
from unbraid.representation import Representation

from ._drawing import label_of, new_figure, show_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class FactorLatentMatrices:
    """Relation between each latent and each factor.

    Attributes:
        factors: Names of the factors.
        latents: Indices of the latents, sorted by the factor that each encodes best.
        information: Mutual information in nats, ``(n_latents, n_factors)``.
        importance: Share of each latent in predicting each factor, same shape.
    """

    factors: tuple[str, ...]
    latents: tuple[int, ...]
    information: NDArray[np.float64]
    importance: NDArray[np.float64]

    def only(self, latents: Collection[int]) -> Self:
        """Return the rows of some latents, such as the active ones.

        Args:
            latents: Indices of the latents to keep.
        """
        rows = [row for row, latent in enumerate(self.latents) if latent in latents]
        return replace(
            self,
            latents=tuple(self.latents[row] for row in rows),
            information=self.information[rows],
            importance=self.importance[rows],
        )


def factor_latent_matrices(
    codes: Representation | ArrayLike,
    factors: Factors | ArrayLike | pd.DataFrame | None = None,
    *,
    n_train: int = 2_000,
    seed: int = 0,
) -> FactorLatentMatrices:
    """Compute mutual information and importance of latents for factors.

    Mutual information is computed as in MIG, and importance as in DCI (boosted trees).
    A disentangled representation has one large entry in every column, and at most one
    in every row.

    Args:
        codes: Codes ``(n_rows, n_latents)``, or a :class:`Representation` of images
            whose factors are known, from :func:`unbraid.encode`.
        factors: Factors of the same rows: an array, a DataFrame or :class:`Factors`.
            Default: those of the representation.
        n_train: Maximum number of rows to train the trees on.
        seed: Seed of the random rows.

    Example:
        >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
        >>> codes = Representation(
        ...     factors[:, ::-1] * 1.0, factors=factors, factor_names=("x", "y")
        ... )
        >>> factor_latent_matrices(codes).information.round(2)
        array([[0.69, 0.  ],
               [0.  , 0.69]])
    """
    if isinstance(codes, Representation):
        if factors is None and codes.factors is not None:
            factors = Factors(
                codes.factors,
                names=codes.factor_names or None,
                kinds=codes.factor_kinds or None,
            )
        codes = codes.codes
    if factors is None:
        raise ValueError(
            "factor_latent_matrices needs the factors of the images, which these codes "
            "come without."
        )
    codes, factors = read_inputs("factor_latent_matrices", codes, factors)
    information = mutual_information_gap(codes, factors)
    importance = dci(codes, factors, n_train=n_train, seed=seed).disentanglement
    assert information.matrix is not None
    assert importance.matrix is not None
    # Sorted by the factor that each latent encodes best, which gives a diagonal if the
    # representation is disentangled.
    best = information.matrix.argmax(axis=1)
    order = np.lexsort((-information.matrix.max(axis=1), best))
    return FactorLatentMatrices(
        factors=tuple(factors.names),
        latents=tuple(order.tolist()),
        information=np.asarray(information.matrix, dtype=np.float64)[order],
        importance=np.asarray(importance.matrix, dtype=np.float64)[order],
    )


def draw_factor_latent_matrices(matrices: FactorLatentMatrices) -> Figure:
    """Draw both matrices side by side, with one row per latent.

    Args:
        matrices: Matrices from :func:`factor_latent_matrices`.
    """
    n_latents, n_factors = matrices.information.shape
    # The rotated names of factors need space below and to the left.
    room = 0.05 * max(len(label_of(name)) for name in matrices.factors)
    size = (2 * (0.55 * n_factors + 0.4 + room), 0.36 * n_latents + 0.8 + room)
    figure = new_figure(size)
    names = [f"z{latent}" for latent in matrices.latents]
    parts = {
        "mutual information (nats)": matrices.information,
        "importance (share)": matrices.importance,
    }
    for number, (title, values) in enumerate(parts.items()):
        axes = figure.add_subplot(1, 2, number + 1)
        show_matrix(
            axes,
            values,
            rows=names,
            columns=matrices.factors,
            low=0.0,
            high=max(float(np.nanmax(values)), 1e-9),
            number_format=".2f",
        )
        axes.set_aspect("auto")
        axes.set_title(title, fontsize=9, loc="left")
        axes.set_xlabel("factor", fontsize=8)
        axes.set_ylabel("latent" if number == 0 else "", fontsize=8)
    return figure
