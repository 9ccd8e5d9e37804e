from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from unbraid.data import XYSquares
from unbraid.geometry import joint_embedding, multislice_kernel
from unbraid.selection import training_dynamics, training_dynamics_scores
from unbraid.training import Trace, TraceSettings, fit


def learning(seed, *, n_units=12, n_slices=6, n_observations=40, noise=0.0, order=0):
    """Activations that grow from noise to a function of two factors.

    Realisations differ in ``seed``: in the noise, and in a rotation of the units. With
    ``order`` they come to hold other factors of the observations.
    """
    shared = np.random.default_rng(99)
    factors = shared.uniform(-1, 1, (n_observations, 2))
    basis = shared.normal(size=(2, 3))
    curved = np.tanh(3 * np.roll(factors, order, axis=0) @ basis)
    generator = np.random.default_rng(seed)
    rotation = np.linalg.qr(generator.normal(size=(n_units, n_units)))[0][:3]
    growth = np.linspace(0.2, 1, n_slices)[:, None, None]
    clean = growth * (curved @ rotation)
    return clean + noise * generator.normal(size=clean.shape)


def trace(activations, *, rows=None, steps=None):
    n_slices, n_observations, _ = activations.shape
    rows = np.arange(n_observations) if rows is None else rows
    steps = np.arange(n_slices) if steps is None else steps
    return Trace("1", rows, steps, activations.astype(np.float32))


def test_equal_runs_score_zero():
    result = training_dynamics([learning(0, noise=0.3)] * 3)
    assert abs(result.score) < 1e-12
    assert np.abs(result.pairs).max() < 1e-12


def test_the_score_grows_with_the_difference_of_runs():
    scores = [
        training_dynamics([learning(seed, noise=noise) for seed in range(4)]).score
        for noise in (0.0, 0.05, 1.0)
    ]
    assert abs(scores[0]) < 1e-8
    assert scores[0] < scores[1] < scores[2]


def test_networks_that_tell_other_observations_apart_are_unlike():
    same = training_dynamics([learning(0, noise=0.05), learning(1, noise=0.05)])
    other = training_dynamics(
        [learning(0, noise=0.05), learning(1, noise=0.05, n_observations=40, order=7)]
    )
    assert other.score > 2 * same.score


def test_an_outlier_is_seen_in_its_pairs():
    result = training_dynamics(
        [learning(0, noise=0.02), learning(1, noise=0.02), learning(2, noise=2.0)]
    )
    assert result.pairs[0, 1] < 0.1 * min(result.pairs[0, 2], result.pairs[1, 2])
    assert result.score == pytest.approx(result.pairs[np.triu_indices(3, 1)].mean())
    np.testing.assert_array_equal(result.pairs, result.pairs.T)


@pytest.mark.parametrize("change", ["permutation", "rotation", "scale", "more units"])
def test_units_may_be_permuted_rotated_scaled_or_more(change):
    generator = np.random.default_rng(5)
    first, second = learning(0, noise=0.3), learning(1, noise=0.3)
    changed = {
        "permutation": second[..., generator.permutation(12)],
        "rotation": second @ np.linalg.qr(generator.normal(size=(12, 12)))[0],
        "scale": 7.0 * second,
        "more units": np.concatenate([second, np.ones((6, 40, 5))], axis=2),
    }[change]
    expected = training_dynamics([first, second], precision="double")
    result = training_dynamics([first, changed], precision="double")
    assert result.score == pytest.approx(expected.score, rel=1e-6)
    np.testing.assert_allclose(result.embedding, expected.embedding, atol=1e-5)


def test_the_order_of_runs_does_not_matter():
    tensors = [learning(seed, noise=0.3) for seed in range(3)]
    forwards, backwards = training_dynamics(tensors), training_dynamics(tensors[::-1])
    np.testing.assert_allclose(
        forwards.pairs, backwards.pairs[::-1, ::-1], rtol=1e-5, atol=1e-9
    )


def test_traces_and_their_activations_score_alike():
    tensors = [learning(seed, noise=0.3).astype(np.float32) for seed in range(2)]
    plain = training_dynamics(tensors)
    recorded = training_dynamics([trace(tensor) for tensor in tensors])
    assert plain.score == recorded.score


def test_the_embedding_is_that_of_the_second_and_third_singular_vector():
    tensors = [learning(seed, noise=0.3) for seed in range(3)]
    result = training_dynamics(tensors, precision="double")
    assert result.embedding.shape == (3, 6, 40, 2)
    np.testing.assert_allclose(
        np.square(result.embedding).mean(axis=(0, 1, 2)), 1.0, rtol=1e-6
    )
    embedded = joint_embedding(
        [multislice_kernel(tensor) for tensor in tensors], n_components=6
    )
    expected = embedded.vectors[..., 1:3] * np.sqrt(3 * 6 * 40)
    np.testing.assert_allclose(result.embedding, expected, atol=1e-6)
    np.testing.assert_allclose(result.singular_values, embedded.singular_values[1:])


def test_single_precision_is_enough_for_a_score():
    tensors = [learning(seed, noise=0.3) for seed in range(3)]
    single = training_dynamics(tensors)
    double = training_dynamics(tensors, precision="double")
    assert single.score == pytest.approx(double.score, rel=1e-4)


def test_the_first_vector_hardly_changes_the_score():
    tensors = [learning(seed, noise=0.3) for seed in range(3)]
    without = training_dynamics(tensors, bandwidth=3.0)
    kept = training_dynamics(tensors, bandwidth=3.0, n_components=6, keep_first=True)
    assert kept.score == pytest.approx(without.score, rel=0.1)


def test_the_bandwidth_is_the_same_for_every_specification_unless_asked_for():
    stable = [learning(seed, noise=0.01) for seed in range(2)]
    noisy = [learning(seed, noise=2.0) for seed in range(2)]
    widths = [training_dynamics(both).bandwidth for both in (stable, noisy)]
    assert widths == [np.sqrt(10.0)] * 2
    medians = [
        training_dynamics(both, bandwidth="median").bandwidth
        for both in (stable, noisy)
    ]
    assert medians[0] != medians[1]
    np.testing.assert_allclose(medians, widths, rtol=0.4)


def test_a_part_of_the_rows_gives_about_the_same_score():
    tensors = [learning(seed, noise=1.0) for seed in range(3)]
    whole = training_dynamics(tensors)
    part = training_dynamics(tensors, max_rows=120)
    assert part.score != whole.score
    assert part.score == pytest.approx(whole.score, rel=0.5)


def test_collapsed_networks_are_perfectly_stable():
    result = training_dynamics([np.full((6, 40, units), 0.5) for units in (3, 9)])
    assert abs(result.score) < 1e-12
    assert np.isfinite(result.embedding).all()


def test_after_too_many_steps_coordinates_tell_runs_apart_alone():
    tensors = [learning(seed, noise=0.3) for seed in range(3)]
    few, many = training_dynamics(tensors), training_dynamics(tensors, steps=200)
    assert few.separation < 0.1
    assert many.separation > 0.9
    assert many.score > 10 * few.score


def test_few_slices_and_observations_are_enough():
    result = training_dynamics(np.random.default_rng(0).normal(size=(2, 1, 3, 2)))
    assert np.isfinite(result.score)
    assert result.embedding.shape == (2, 1, 3, 2)


def test_configurations_are_ordered_by_stability():
    configurations = {
        name: [learning(seed, noise=noise) for seed in range(2)]
        for name, noise in (("noisy", 1.0), ("quiet", 0.02), ("between", 0.2))
    }
    ordered = training_dynamics_scores(configurations)
    assert list(ordered) == ["quiet", "between", "noisy"]
    with ThreadPoolExecutor(2) as pool:
        again = training_dynamics_scores(
            configurations, score=partial(training_dynamics, steps=2), map_over=pool.map
        )
    assert [item.score for item in again.values()] == pytest.approx(
        [item.score for item in ordered.values()]
    )


@pytest.mark.parametrize(
    ("traces", "options", "message"),
    [
        ([learning(0)], {}, "number of traces must be .* at least 2, got 1"),
        ([learning(0), learning(0)[:5]], {}, "the same slices and observations"),
        ([learning(0)[0], learning(0)[0]], {}, "n_slices, n_observations, n_units"),
        (
            [learning(0)[:1, :2]] * 2,
            {},
            "pairs of slice and observation must be .* least 3",
        ),
        ([learning(0), np.full((6, 40, 2), np.nan)], {}, "activations must be finite"),
        ([learning(0)] * 2, {"bandwidth": "mean"}, "'mean'"),
        ([learning(0)] * 2, {"bandwidth": 0.0}, "or a positive number, got 0.0"),
        ([learning(0)] * 2, {"n_components": 0}, "n_components must be .* at least 1"),
        (
            [trace(learning(0)), trace(learning(1), rows=np.arange(40) + 1)],
            {},
            "same rows and steps",
        ),
        (
            [trace(learning(0)), trace(learning(1), steps=np.arange(6) * 2)],
            {},
            "same rows and steps",
        ),
    ],
)
def test_impossible_requests_are_refused(traces, options, message):
    with pytest.raises(ValueError, match=message):
        training_dynamics(traces, **options)


def test_runs_are_scored_by_the_traces_they_recorded():
    squares = XYSquares(n_squares=1, image_size=8, square_size=1)

    def traces(n_latents):
        settings = TraceSettings(n_observations=16, n_snapshots=4)
        options = {"steps": 20, "n_latents": n_latents, "traces": settings}
        return [fit("vae", squares, seed=seed, **options).trace for seed in range(2)]

    two, four = traces(2), traces(4)
    result = training_dynamics(two)
    assert result.embedding.shape == (2, *two[0].activations.shape[:2], 2)
    assert result.score == training_dynamics(two).score
    # Architectures may differ too: what must agree is what they were shown, and when.
    assert np.isfinite(training_dynamics([two[0], four[0]]).score)
    assert abs(training_dynamics([two[0], two[0]]).score) < 1e-12
