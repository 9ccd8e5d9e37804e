"""Conformance suites that third parties can run on their own extensions."""

from ._datasets import check_dataset

__all__ = ["check_dataset"]
