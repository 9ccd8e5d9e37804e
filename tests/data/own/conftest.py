from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, where nothing was decoded before."""
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pictures"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "My Pictures").mkdir()
    return tmp_path / "My Pictures"


@pytest.fixture
def save(folder: Path) -> Callable[..., Path]:
    """Save an array or picture below the folder."""

    def save(name: str, picture: np.ndarray | Image.Image, **options: object) -> Path:
        if isinstance(picture, np.ndarray):
            picture = Image.fromarray(picture)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path, **options)
        return path

    return save
