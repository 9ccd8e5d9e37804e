"""supervised metrics."""
