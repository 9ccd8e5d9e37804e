import pytest


@pytest.fixture(autouse=True)
def _own_folders(monkeypatch, tmp_path_factory):
    """Neither the user's data nor the user's cache take part."""
    monkeypatch.delenv("UNBRAID_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
