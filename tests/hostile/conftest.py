import pytest


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """An empty current folder, with caches beside it."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "published"))
    return folder
