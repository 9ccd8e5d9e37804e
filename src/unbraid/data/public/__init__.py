"""Datasets that are read from their published files."""
