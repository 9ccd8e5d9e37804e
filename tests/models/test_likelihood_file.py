import json
from pathlib import Path

import numpy as np
import pytest

from unbraid.foundation import CheckpointFormatError
from unbraid.models import (
    Bernoulli,
    KernelAugmented,
    Laplace,
    choose_likelihood,
    load_likelihood,
    save_likelihood,
)

GIVEN = np.random.Generator(np.random.PCG64(0)).random((3, 5, 5))


@pytest.mark.parametrize(
    "likelihood",
    [
        Bernoulli(),
        KernelAugmented(base=Laplace(scale=0.3), radius=2),
        KernelAugmented(kernel=GIVEN, weight=1 / 3),
    ],
)
def test_a_likelihood_comes_back_to_the_last_digit(likelihood, tmp_path):
    path = save_likelihood(likelihood, tmp_path / "new" / "loss.json")
    assert load_likelihood(path) == likelihood
    assert choose_likelihood(str(path)) == likelihood


GOLDEN = Path(__file__).parent / "golden"


def test_an_older_file_keeps_the_width_of_its_gaussian():
    # Written before the width was stored; it was a third of the radius then.
    old = load_likelihood(GOLDEN / "gaussian_kernel_without_width.json")
    assert old == KernelAugmented(
        base=Laplace(scale=0.5), kernel="gaussian", radius=6, relative_sigma=1 / 3
    )


def test_only_gaussian_kernels_write_a_width(tmp_path):
    # Records of all other kernels, and so the ids of their runs, stay as they were.
    for likelihood, is_written in (
        (KernelAugmented(radius=2), False),
        (KernelAugmented(kernel=GIVEN, weight=0.1), False),
        (KernelAugmented(kernel="gaussian"), True),
    ):
        path = save_likelihood(likelihood, tmp_path / "loss.json")
        written = json.loads(path.read_text())["likelihood"]
        assert ("relative_sigma" in written) == is_written
        assert load_likelihood(path) == likelihood


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "nonsense",
        "{}",
        '{"format": "unbraid likelihood", "version": 2, "likelihood": "mse"}',
        '{"format": "unbraid likelihood", "version": 1, "likelihood": "gaussian"}',
        json.dumps(
            {
                "format": "unbraid likelihood",
                "version": 1,
                "likelihood": {"name": "kernel_augmented", "kernel": [[1, 2]]},
            }
        ),
        "\udcff",
        "[" * 5000,
    ],
)
def test_a_file_of_something_else_is_refused(text, tmp_path):
    path = tmp_path / "loss.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(
        CheckpointFormatError,
        match=r"loss\.json. (is not|must contain) a likelihood",
    ):
        load_likelihood(path)


def test_a_missing_file_is_not_found_and_other_endings_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_likelihood(tmp_path / "loss.json")
    with pytest.raises(
        ValueError, match=r"path must end in \.json, got .*loss\.pickle"
    ):
        save_likelihood(Bernoulli(), tmp_path / "loss.pickle")
