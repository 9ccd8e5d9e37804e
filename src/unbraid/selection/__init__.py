"""Which model, without labels."""

from ._training_dynamics import (
    DynamicsScore,
    training_dynamics,
    training_dynamics_scores,
)

__all__ = ["DynamicsScore", "training_dynamics", "training_dynamics_scores"]
