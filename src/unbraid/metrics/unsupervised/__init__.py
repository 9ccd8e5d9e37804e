"""Metrics of codes without ground-truth factors."""

from ._covariance import read_log_variances

__all__ = [
    "read_log_variances",
]
