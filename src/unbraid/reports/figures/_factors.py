"""Which latent holds which factor: tables of mutual information and importance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """How much each latent knows about each factor.

    Attributes:
        factors: Names of the factors.
        latents: Numbers of the latents, those that know most first.
        information: Mutual information in nats, ``(n_latents, n_factors)``.
        importance: Share of each latent in predicting each factor, same shape.
    """

    factors: tuple[str, ...]
    latents: tuple[int, ...]
    information: NDArray[np.float64]
    importance: NDArray[np.float64]


def factor_latent_matrices(
    codes: Representation | ArrayLike,
    factors: Factors | ArrayLike | pd.DataFrame | None = None,
    *,
    n_train: int = 2_000,
    seed: int = 0,
) -> FactorLatentMatrices:
    """Mutual information and importance of latents for factors.

    The information is that of MIG, the importance that of DCI (boosted trees). A
    disentangled representation has one large entry in every column, and no row with
    two.

    Args:
        codes: Codes ``(n_rows, n_latents)``, or a :class:`Representation` of images
            whose factors are known, from :func:`unbraid.encode`.
        factors: Factors of the same rows: an array, a DataFrame or :class:`Factors`.
            When not given, those of the representation.
        n_train: Largest number of rows that trees learn from.
        seed: Seed of the choice of rows.

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
            "factor_latent_matrices: expected codes of images with factors, got none."
        )
    codes, factors = read_inputs("factor_latent_matrices", codes, factors)
    information = mutual_information_gap(codes, factors)
    importance = dci(codes, factors, n_train=n_train, seed=seed).disentanglement
    assert information.matrix is not None
    assert importance.matrix is not None
    # Latents in the order of the factor that each knows most about: a diagonal, if
    # the representation is disentangled.
    best = information.matrix.argmax(axis=1)
    order = np.lexsort((-information.matrix.max(axis=1), best))
    return FactorLatentMatrices(
        factors=tuple(factors.names),
        latents=tuple(order.tolist()),
        information=np.asarray(information.matrix, dtype=np.float64)[order],
        importance=np.asarray(importance.matrix, dtype=np.float64)[order],
    )


def draw_factor_latent_matrices(found: FactorLatentMatrices) -> Figure:
    """Both tables side by side, a row per latent.

    Args:
        found: What to draw, from :func:`factor_latent_matrices`.
    """
    n_latents, n_factors = found.information.shape
    # Names of factors stand aslant below, and need room to the left as well.
    room = 0.05 * max(len(label_of(name)) for name in found.factors)
    size = (2 * (0.55 * n_factors + 0.4 + room), 0.36 * n_latents + 0.8 + room)
    figure = new_figure(size)
    names = [f"z{latent}" for latent in found.latents]
    parts = {
        "mutual information (nats)": found.information,
        "importance (share)": found.importance,
    }
    for number, (title, values) in enumerate(parts.items()):
        axes = figure.add_subplot(1, 2, number + 1)
        show_matrix(
            axes,
            values,
            rows=names,
            columns=found.factors,
            low=0.0,
            high=max(float(np.nanmax(values)), 1e-9),
            form=".2f",
        )
        axes.set_aspect("auto")
        axes.set_title(title, fontsize=9, loc="left")
    return figure
