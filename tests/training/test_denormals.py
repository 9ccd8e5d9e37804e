"""Numbers too small to matter cost no time, and the caller's settings stay."""

import pytest
import torch

from unbraid.training._denormals import flushed_denormals

_TINY = 1e-40


def _is_flushing() -> bool:
    return torch.full((1,), _TINY).mul_(1.0).item() == 0.0


@pytest.mark.parametrize("before", [False, True])
def test_tiny_numbers_are_zero_inside_and_as_before_after(before):
    torch.set_flush_denormal(before)
    try:
        with flushed_denormals():
            assert _is_flushing()
        assert _is_flushing() is before
    finally:
        torch.set_flush_denormal(False)


def test_the_setting_comes_back_after_an_error():
    with pytest.raises(KeyError), flushed_denormals():
        raise KeyError("x")
    assert not _is_flushing()
