"""Slow tests of metrics run only when asked for: ``pytest tests/metrics -m slow``."""

from pathlib import Path

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config, items):
    if config.option.markexpr:
        return
    slow = [
        item
        for item in items
        if item.get_closest_marker("slow") and HERE in item.path.parents
    ]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]
