"""Datasets that are rendered: no file is needed."""
