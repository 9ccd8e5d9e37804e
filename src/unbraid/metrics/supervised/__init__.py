"""Metrics that compare codes with ground-truth factors."""
