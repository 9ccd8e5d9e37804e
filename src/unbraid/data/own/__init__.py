"""Datasets that the user brings: folders of pictures and arrays."""
