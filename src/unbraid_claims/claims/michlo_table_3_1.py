"""Perceived distances of XYSquares along each factor."""

from unbraid.data import XYSquares
from unbraid.perception import perceived_distances
from unbraid_claims import Check, Claim, Evidence, Measured

_PRINTED = {"factors": (0.0104, 0.0000), "random": (0.0308, 0.0022)}
_DIGIT = 0.0001  # the last that is printed


def measure(evidence: Evidence) -> Measured:
    """Compare mean and standard deviation of distances with the printed numbers."""
    n_pairs = evidence.at(smoke=200, mini=20_000, paper=50_000)
    found = perceived_distances(XYSquares(), "mse", n_pairs=n_pairs)
    printed_mean, _ = _PRINTED["factors"]
    farthest = max(found.factors, key=lambda row: abs(row.mean - printed_mean))
    measured = {"factors": farthest, "random": found.random}
    checks = []
    for where, row in measured.items():
        for what, value, printed in zip(
            ("mean", "deviation"), (row.mean, row.std), _PRINTED[where], strict=True
        ):
            checks.append(
                Check(
                    quantity=f"XYSquares, {where}: {what} of squared errors",
                    expected=f"{printed:.4f} as printed",
                    value=value,
                    least=printed - _DIGIT,
                    most=printed + _DIGIT,
                )
            )
    return Measured(checks=checks)


CLAIM = Claim(
    name="michlo-table-3-1",
    source="Michlo (2022), Table 3.1",
    text="On XYSquares any two values of a factor look equally far apart to squared "
    "error, and random pairs three times as far.",
    measure=measure,
)
