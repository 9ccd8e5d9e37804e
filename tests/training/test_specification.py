import json

import pytest

from unbraid.models import KernelAugmented
from unbraid.models.networks import AbstractNetwork
from unbraid.models.objectives import BetaVAE
from unbraid.training import TrainingSpec, hash_plain


class Own(AbstractNetwork):
    def encoder(self, image_shape, n_outputs):
        raise AssertionError

    def decoder(self, image_shape, n_latents):
        raise AssertionError


def test_a_specification_comes_back_from_json():
    spec = TrainingSpec(
        objective=BetaVAE(beta=3.0), optimizer_options=(("betas", (0.5, 0.9)),)
    )
    plain = json.loads(json.dumps(spec.to_plain()))
    assert TrainingSpec.from_plain(plain) == spec


def test_what_is_the_users_own_must_be_given_again():
    network = Own()
    spec = TrainingSpec(network=network)
    plain = spec.to_plain()
    # Where an object lies in memory is no part of what it is.
    assert plain == TrainingSpec(network=Own()).to_plain()
    with pytest.raises(ValueError, match=r"made with .*Own.* Pass it as network="):
        TrainingSpec.from_plain(plain)
    assert TrainingSpec.from_plain(plain, network=network) == spec


def test_newer_formats_are_refused():
    plain = TrainingSpec().to_plain() | {"format": 7}
    with pytest.raises(ValueError, match="have format 7, .* Update"):
        TrainingSpec.from_plain(plain)


def test_a_hash_tells_settings_apart_and_not_the_order_of_keys():
    assert hash_plain({"a": 1, "b": 2}) == hash_plain({"b": 2, "a": 1})
    assert hash_plain({"a": 1}) != hash_plain({"a": 2})


def test_an_older_run_keeps_the_width_of_its_gaussian_kernel():
    # A third of the radius, before the width was written.
    spec = TrainingSpec(likelihood=KernelAugmented(kernel="gaussian", radius=4))
    plain = spec.to_plain()
    assert plain["likelihood"].pop("relative_sigma") == 0.25
    assert TrainingSpec.from_plain(plain).likelihood.relative_sigma == 1 / 3


@pytest.mark.parametrize(
    ("likelihood", "expected"),
    [
        (KernelAugmented(radius=2), "5c2dd41ce603091e"),
        (
            KernelAugmented(kernel=((0.1, 0.7, 0.2),), weight=9563.25),
            "ef14f13bcb47298d",
        ),
    ],
)
def test_runs_with_other_kernels_keep_their_hash(likelihood, expected):
    # Recorded before the width of Gaussian kernels was written.
    plain = TrainingSpec(likelihood=likelihood).to_plain()
    assert hash_plain(plain)[:16] == expected
