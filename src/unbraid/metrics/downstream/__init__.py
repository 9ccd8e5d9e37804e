"""downstream metrics."""
