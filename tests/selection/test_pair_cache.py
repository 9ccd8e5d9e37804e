import numpy as np
import pytest

from unbraid.selection import unsupervised_disentanglement_ranking as ranking

GENERATOR = np.random.default_rng(0)
FACTORS = GENERATOR.uniform(-1, 1, (200, 3))
MODELS = [FACTORS + GENERATOR.normal(0, 0.5, FACTORS.shape) for _ in range(5)]
SENTINEL = 7.0


def replace_numbers(path):
    """Set all known numbers in a file to one that no computation gives."""
    with np.load(path) as arrays:
        changed = dict(arrays)
    for name, array in changed.items():
        if name.endswith("/table"):
            changed[name] = np.where(np.isnan(array), np.nan, SENTINEL)
    np.savez(path, **changed)


def test_a_new_model_costs_its_own_pairs_only(tmp_path):
    cache = tmp_path / "new folder" / "udr.npz"
    ranking(MODELS[:4], cache=cache)
    replace_numbers(cache)
    order = [4, 2, 0, 1, 3]  # the index of a model is nothing
    pairs = ranking([MODELS[k] for k in order], cache=cache).pairs
    expected = ranking([MODELS[k] for k in order]).pairs
    assert (pairs[1:, 1:][~np.eye(4, dtype=bool)] == SENTINEL).all()
    assert pairs[0, 1:] == pytest.approx(expected[0, 1:], abs=1e-12)
    assert pairs[1:, 0] == pytest.approx(expected[1:, 0], abs=1e-12)
    assert np.isnan(np.diag(pairs)).all()


@pytest.mark.parametrize(
    "other", [{"similarity": "spearman"}, {"formula": "dlib"}, {"kl_threshold": 0.02}]
)
def test_variants_share_a_file_and_no_numbers(tmp_path, other):
    cache = tmp_path / "udr.npz"
    first = ranking(MODELS, cache=cache)
    replace_numbers(cache)
    second = ranking(MODELS, cache=cache, **other)
    np.testing.assert_array_equal(second.pairs, ranking(MODELS, **other).pairs)
    assert (ranking(MODELS, cache=cache).scores == SENTINEL).all()
    assert not (first.scores == SENTINEL).any()


def test_a_changed_model_is_another_model(tmp_path):
    cache = tmp_path / "udr.npz"
    ranking(MODELS, cache=cache)
    replace_numbers(cache)
    changed = MODELS[0].copy()
    changed[0, 0] += 1e-9
    models = [changed, (MODELS[1], np.full_like(FACTORS, -3.0)), MODELS[2]]
    assert not (ranking(models, cache=cache).pairs == SENTINEL).any()


def test_models_with_equal_codes_are_kept_too(tmp_path):
    cache = tmp_path / "udr.npz"
    models = [MODELS[0], MODELS[0], MODELS[1]]
    plain = ranking(models, cache=cache)
    np.testing.assert_array_equal(ranking(models, cache=cache).pairs, plain.pairs)
    replace_numbers(cache)
    assert (ranking(models, cache=cache).scores == SENTINEL).all()


def test_groups_add_to_what_is_known(tmp_path):
    cache = tmp_path / "udr.npz"
    ranking(MODELS, cache=cache, groups=[0, 0, 0, 1, 1])
    replace_numbers(cache)
    known = ranking(MODELS, cache=cache).pairs == SENTINEL
    assert known.sum() == 3 * 2 + 2


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_file_that_was_cut_off_is_made_again(tmp_path, share):
    cache = tmp_path / "udr.npz"
    expected = ranking(MODELS, cache=cache).pairs
    whole = cache.read_bytes()
    cache.write_bytes(whole[: int(share * len(whole))])
    np.testing.assert_array_equal(ranking(MODELS, cache=cache).pairs, expected)
    replace_numbers(cache)
    assert (ranking(MODELS, cache=cache).scores == SENTINEL).all()


def test_a_file_with_any_byte_changed_is_survived(tmp_path):
    cache = tmp_path / "udr.npz"
    expected = ranking(MODELS[:2], cache=cache).pairs
    whole = cache.read_bytes()
    for index in range(0, len(whole), 11):
        damaged = bytearray(whole)
        damaged[index] ^= 0xFF
        cache.write_bytes(damaged)
        np.testing.assert_array_equal(ranking(MODELS[:2], cache=cache).pairs, expected)


@pytest.mark.parametrize(
    "arrays",
    [
        {"names": np.array(["a"])},
        {"names": np.array(["a"]), "table": np.zeros((2, 2))},
        {"names": np.array([1.0]), "table": np.zeros((1, 1))},
        {"names": np.array("a"), "table": np.zeros((1, 1))},
        {"names": np.array(["a"]), "table": np.array([["x"]])},
    ],
)
def test_a_file_of_something_else_is_replaced(tmp_path, arrays):
    cache = tmp_path / "udr.npz"
    variant = "1/lasso, paper, 0.01"
    np.savez(cache, **{f"{variant}/{name}": array for name, array in arrays.items()})
    expected = ranking(MODELS).pairs
    np.testing.assert_array_equal(ranking(MODELS, cache=cache).pairs, expected)
    with cache.open("wb") as file:
        np.save(file, np.zeros(3))
    np.testing.assert_array_equal(ranking(MODELS, cache=cache).pairs, expected)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cache must be the path of a file"):
        ranking(MODELS, cache=tmp_path)
