"""A loss that blurs repairs what XYSquares breaks."""

from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._intervals import gain_of
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._scores_by_group import draw_scores_by_group, scores_by
from unbraid.reproductions._tables import rows_where

_STUDY = "michlo-2022-a3-3"
_METHODS = {"beta_vae": "beta-VAE", "ada_gvae": "Ada-GVAE"}


def measure(evidence: Evidence) -> Measured:
    """MIG with the loss through a box, less that with squared error, per method."""
    table = evidence.table(_STUDY)
    checks = []
    for method, name in _METHODS.items():
        runs = rows_where(table, "objective.name", method)
        losses = scores_by(runs, "likelihood.name", "score.mig")
        gain, interval = gain_of(losses["kernel_augmented"], losses["gaussian"])
        checks.append(
            Check(
                quantity=f"{name}: MIG gained by the loss through a box",
                expected="above 0",
                value=gain,
                interval=interval,
                least=0.0,
            )
        )
    figure = draw_scores_by_group(
        table, ["objective.name", "likelihood.name"], "score.mig", label="MIG"
    )
    return Measured(checks=checks, figure=figure)


CLAIM = Reproduction(
    name="michlo-figure-3-12",
    source="Michlo (2022), Figure 3.12",
    claim="On XYSquares, a reconstruction loss that compares images through a box blur "
    "lets beta-VAE and Ada-GVAE disentangle what squared error does not.",
    measure=measure,
    studies=(_STUDY,),
)
