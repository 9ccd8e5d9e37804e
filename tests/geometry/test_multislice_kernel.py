import numpy as np
import pytest

from unbraid.geometry import multislice_kernel


def literal_kernel(
    activations, n_neighbors=5, n_slice_neighbors=5, decay=2.0, bandwidth=None
):
    """The whole symmetrised matrix, entry by entry, in double precision."""
    n, m, _ = activations.shape

    def distance(a, b):
        return np.sqrt(np.sum((activations[a] - activations[b]) ** 2))

    def nearest(place, others, k):
        return sorted(distance(place, other) for other in others if other != place)[
            min(k, len(others) - 1) - 1
        ]

    if bandwidth is None:
        bandwidth = np.mean(
            [
                nearest((s, i), [(v, i) for v in range(n)], n_slice_neighbors)
                for s in range(n)
                for i in range(m)
            ]
        )
    matrix = np.zeros((n * m, n * m))
    for s in range(n):
        for i in range(m):
            width = nearest((s, i), [(s, j) for j in range(m)], n_neighbors)
            for j in range(m):
                ratio = distance((s, i), (s, j)) / width
                matrix[s * m + i, s * m + j] = np.exp(-(ratio**decay))
            for v in range(n):
                if v != s:
                    ratio = distance((s, i), (v, i)) / bandwidth
                    matrix[s * m + i, v * m + i] = np.exp(-(ratio**2))
    return (matrix + matrix.T) / 2


def random_walk(matrix):
    return matrix / matrix.sum(axis=1, keepdims=True)


def whole(kernel, *, steps, transposed=False):
    """The matrix that a kernel applies to vectors."""
    n, m = kernel.shape
    unit = np.eye(n * m).reshape(n, m, n * m)
    applied = kernel.diffuse(unit, steps=steps, transposed=transposed)
    return applied.reshape(n * m, n * m)


@pytest.fixture
def activations():
    return np.random.default_rng(0).normal(size=(4, 7, 3)).cumsum(axis=0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_neighbors": 2, "n_slice_neighbors": 1, "decay": 5.0},
        {"n_neighbors": 99, "n_slice_neighbors": 99, "decay": 1.0},
    ],
)
@pytest.mark.parametrize("steps", [1, 3])
def test_diffusion_is_that_of_the_matrix_written_out(activations, options, steps):
    expected = random_walk(literal_kernel(activations, **options))
    expected = np.linalg.matrix_power(expected, steps)
    kernel = multislice_kernel(activations, **options)
    np.testing.assert_allclose(whole(kernel, steps=steps), expected, atol=1e-12)
    transposed = whole(kernel, steps=steps, transposed=True)
    np.testing.assert_allclose(transposed, expected.T, atol=1e-12)


def test_a_given_slice_bandwidth_is_used(activations):
    kernel = multislice_kernel(activations, slice_bandwidth=0.7)
    expected = random_walk(literal_kernel(activations, bandwidth=0.7))
    np.testing.assert_allclose(whole(kernel, steps=1), expected, atol=1e-12)


def test_every_block_is_symmetric_and_the_diagonal_counts_once(activations):
    kernel = multislice_kernel(activations)
    np.testing.assert_array_equal(
        kernel.intraslice, kernel.intraslice.transpose(0, 2, 1)
    )
    np.testing.assert_array_equal(
        kernel.interslice, kernel.interslice.transpose(0, 2, 1)
    )
    matrix = kernel.degrees.reshape(-1, 1) * whole(kernel, steps=1)
    np.testing.assert_allclose(np.diagonal(matrix), 1.0, rtol=1e-12)


def test_more_observations_than_a_chunk_are_all_compared():
    activations = np.random.default_rng(1).normal(size=(2, 70, 2))
    expected = random_walk(literal_kernel(activations))
    kernel = multislice_kernel(activations)
    np.testing.assert_allclose(whole(kernel, steps=1), expected, atol=1e-12)


def test_single_precision_differs_by_its_rounding_alone(activations):
    double = multislice_kernel(activations)
    single = multislice_kernel(activations, precision="single")
    assert single.intraslice.dtype == np.float32
    difference = np.abs(whole(single, steps=2) - whole(double, steps=2)).max()
    assert 0 < difference < 1e-6


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rotated_and_scaled_units_give_the_same_kernel(activations, scale):
    rotation = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    moved = scale * (activations @ rotation + 10.0)
    np.testing.assert_allclose(
        whole(multislice_kernel(moved, decay=3.0), steps=1),
        whole(multislice_kernel(activations, decay=3.0), steps=1),
        atol=1e-9,
    )


@pytest.mark.parametrize("value", [0.0, 0.1, 1e5])
def test_constant_activations_have_affinities_of_one(value):
    kernel = multislice_kernel(np.full((3, 8, 5), value, np.float32))
    assert (kernel.intraslice == 1).all()
    assert (kernel.interslice.sum(axis=2) == 2).all()
    assert (kernel.degrees == 8 + 2).all()


def test_duplicates_are_alike_and_far_from_all_others():
    points = np.random.default_rng(3).normal(size=(9, 4))
    points[:4] = points[0]
    kernel = multislice_kernel(points[None], n_neighbors=2)
    assert (kernel.intraslice[0, :4, :4] == 1).all()
    # An observation with nearer equals than its bandwidth sees no other.
    assert (kernel.intraslice[0, :4, 4:] <= 0.5).all()
    assert np.isfinite(whole(kernel, steps=3)).all()


@pytest.mark.parametrize("shape", [(1, 6, 2), (5, 1, 2), (1, 1, 1), (2, 3, 4)])
def test_few_slices_or_observations_still_make_a_random_walk(shape):
    kernel = multislice_kernel(np.random.default_rng(4).normal(size=shape))
    walk = whole(kernel, steps=2)
    np.testing.assert_allclose(walk.sum(axis=1), 1.0)


def test_points_much_farther_than_the_bandwidth_have_no_affinity():
    points = np.array([[[0.0], [1e-5], [1e150]]])
    kernel = multislice_kernel(points, n_neighbors=1, decay=50.0)
    assert kernel.intraslice[0, 0, 2] <= 0.5


@pytest.mark.parametrize(
    ("activations", "options", "message"),
    [
        (np.zeros((3, 4)), {}, "n_units"),
        (np.zeros((3, 0, 4)), {}, "must not be empty"),
        (np.full((2, 3, 4), np.nan), {}, "activations must be finite"),
        (np.full((2, 3, 4), np.inf), {}, "activations must be finite"),
        (np.zeros((2, 3, 4)), {"n_neighbors": 0}, "n_neighbors"),
        (np.zeros((2, 3, 4)), {"n_slice_neighbors": 0}, "n_slice_neighbors"),
        (np.zeros((2, 3, 4)), {"decay": 0.0}, "decay must be positive"),
        (np.zeros((2, 3, 4)), {"slice_bandwidth": 0.0}, "bandwidth must be positive"),
    ],
)
def test_impossible_requests_are_refused(activations, options, message):
    with pytest.raises(ValueError, match=message):
        multislice_kernel(activations, **options)
