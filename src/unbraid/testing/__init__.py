"""Conformance suites that third parties can run on their own extensions."""

from ._datasets import check_dataset
from ._executors import check_executor
from ._metrics import check_metric
from ._objectives import check_objective

__all__ = ["check_dataset", "check_executor", "check_metric", "check_objective"]
