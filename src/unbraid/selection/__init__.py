"""Which model, without labels."""

from ._udr import UDRScores, unsupervised_disentanglement_ranking

__all__ = ["UDRScores", "unsupervised_disentanglement_ranking"]
