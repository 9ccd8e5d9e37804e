"""Rendered datasets, which need no files."""
