import pytest
import torch
from companions import batch_of

from unbraid.models.objectives._known_sharing import known_shared_latents

FACTORS = [torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 0], [0, 4]])]


def test_latents_of_equal_factors_are_shared():
    batch = batch_of(2, size=2, factors=FACTORS)
    private = known_shared_latents(batch, 3, extra_latents="private", caller="X")
    shared = known_shared_latents(batch, 3, extra_latents="shared", caller="X")
    assert private.tolist() == [[True, False, False], [False, True, False]]
    assert shared.tolist() == [[True, False, True], [False, True, True]]


def test_a_missing_label_is_not_shared():
    missing = torch.tensor([[float("nan")]])
    batch = batch_of(2, size=1, factors=[missing, missing])
    assert not known_shared_latents(batch, 1, extra_latents="private", caller="X").any()


def test_missing_factors_and_missing_latents_are_refused():
    with pytest.raises(ValueError, match="X needs pairs with known factors"):
        known_shared_latents(batch_of(2), 3, extra_latents="private", caller="X")
    batch = batch_of(2, size=2, factors=FACTORS)
    with pytest.raises(ValueError, match="each of the 2 factors, got 1 latents"):
        known_shared_latents(batch, 1, extra_latents="private", caller="X")
