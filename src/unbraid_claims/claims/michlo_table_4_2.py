"""Perceived distances follow positions better if squares overlap more."""

import numpy as np

from unbraid.data import XYSquares
from unbraid.perception import perceived_distances
from unbraid_claims import Check, Claim, Evidence, Measured
from unbraid_claims._score_panels import draw_printed_and_measured

_COLUMNS = ("linear, mse", "rank, mse", "linear, mse-box", "rank, mse-box")
_PRINTED = {
    1: (1.00, 1.00, 0.98, 0.99),
    2: (0.94, 0.99, 0.99, 0.99),
    3: (0.86, 0.95, 0.99, 0.99),
    4: (0.75, 0.85, 0.99, 0.99),
    5: (0.72, 0.85, 0.99, 0.99),
    6: (0.67, 0.85, 0.98, 0.98),
    7: (0.60, 0.85, 0.97, 0.98),
    8: (0.52, 0.58, 0.96, 0.97),
}
_NEAR = 0.02


def measure(evidence: Evidence) -> Measured:
    """Compare correlations for each spacing with the printed numbers."""
    spacings = evidence.at(smoke=[1, 8], mini=list(_PRINTED), paper=list(_PRINTED))
    n_pairs = evidence.at(smoke=400, mini=10_000, paper=100_000)
    found = evidence.cached("found", lambda: [_row(each, n_pairs) for each in spacings])
    measured, printed = np.array(found).T, np.array([_PRINTED[s] for s in spacings]).T
    checks = [
        Check(
            quantity=f"XYSquares, {column}: largest difference from what is printed, "
            "over spacings",
            expected=f"at most {_NEAR}",
            value=float(np.abs(given - seen).max()),
            most=_NEAR,
        )
        for column, given, seen in zip(_COLUMNS, printed, measured, strict=True)
    ]
    figure = draw_printed_and_measured(
        [f"spacing {spacing}" for spacing in spacings],
        dict(zip(_COLUMNS, printed, strict=True)),
        dict(zip(_COLUMNS, measured, strict=True)),
        label="correlation",
    )
    return Measured(checks=checks, figure=figure)


def _row(spacing: int, n_pairs: int) -> list[float]:
    """Return mean linear and rank correlations for both losses."""
    # Squares in other channels would add nothing along the factors of this one.
    squares = XYSquares(spacing=spacing, n_squares=1, rgb=False)
    found: list[float] = []
    for loss in ("mse", "mse-box"):
        rows = perceived_distances(squares, loss, n_pairs=n_pairs).factors
        found.append(float(np.mean([row.linear for row in rows])))
        found.append(float(np.mean([row.rank for row in rows])))
    return found


CLAIM = Claim(
    name="michlo-table-4-2",
    source="Michlo (2022), Table 4.2",
    text="The closer the positions of XYSquares, the better squared error follows "
    "them; through a box blur it does so at any spacing.",
    measure=measure,
)
