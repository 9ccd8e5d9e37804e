import pytest

from unbraid.foundation import NotEnoughMemoryError
from unbraid.foundation import _memory as limits


def control_group(folder, *, most, used, cached):
    (folder / "memory.max").write_text(f"{most}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")
    return folder


def test_cached_files_do_not_count_against_a_container(tmp_path):
    folder = control_group(tmp_path, most=1_000, used=950, cached=900)
    assert limits._left_in_container(folder) == 950


def test_a_container_without_a_limit_has_none(tmp_path):
    folder = control_group(tmp_path, most="max", used=950, cached=900)
    assert limits._left_in_container(folder) is None
    assert limits._left_in_container(tmp_path / "none") is None


def test_what_does_not_fit_is_refused_with_its_name(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1_000)
    limits.require_memory(1_000, "small.npy")
    with pytest.raises(NotEnoughMemoryError, match=r"large.npy: .* 2.0 kB .* 1.0 kB"):
        limits.require_memory(2_000, "large.npy")


def test_nothing_is_refused_where_memory_is_not_known(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: None)
    limits.require_memory(10**18, "large.npy")
