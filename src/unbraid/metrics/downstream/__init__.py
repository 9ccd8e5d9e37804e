"""Metrics of how useful a representation is for learning tasks."""
