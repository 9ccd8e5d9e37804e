"""Discoveries without the seconds that their pages take."""

import pytest


@pytest.fixture
def without_pages(monkeypatch):
    """Results come without the report and the explorer, which other tests look at."""
    monkeypatch.setattr(
        "unbraid.discovery._write_discovery._write_pages", lambda *_: None
    )
