"""unsupervised metrics."""
