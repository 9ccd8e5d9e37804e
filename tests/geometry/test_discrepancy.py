import numpy as np
import pytest

from unbraid.geometry import (
    discrepancy_matrix,
    median_distance,
    squared_maximum_mean_discrepancy,
)


def literal(first, second, kernel, *, paired=False):
    """Eq. 3 of Gretton et al. (2012), or Eq. 4 for pairs, as a double sum."""
    m, n = len(first), len(second)
    within = sum(
        kernel(rows[i], rows[j]) / (len(rows) * (len(rows) - 1))
        for rows in (first, second)
        for i in range(len(rows))
        for j in range(len(rows))
        if i != j
    )
    across = [
        kernel(first[i], second[j])
        for i in range(m)
        for j in range(n)
        if not (paired and i == j)
    ]
    return within - 2 * np.mean(across)


def gaussian(bandwidth):
    return lambda x, y: np.exp(-np.sum((x - y) ** 2) / (2 * bandwidth**2))


@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 4.0])
def test_the_estimate_is_the_double_sum(bandwidth):
    generator = np.random.default_rng(0)
    first, second = generator.normal(size=(11, 3)), generator.normal(size=(8, 3)) + 1
    ours = squared_maximum_mean_discrepancy(first, second, bandwidth=bandwidth)
    assert ours == pytest.approx(literal(first, second, gaussian(bandwidth)), abs=1e-12)
    ours = squared_maximum_mean_discrepancy(
        first[:8], second, bandwidth=bandwidth, paired=True
    )
    expected = literal(first[:8], second, gaussian(bandwidth), paired=True)
    assert ours == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("paired", [False, True])
def test_the_linear_kernel_is_the_double_sum(paired):
    generator = np.random.default_rng(1)
    first, second = generator.normal(size=(9, 3)), generator.normal(size=(9, 3)) + 5
    ours = squared_maximum_mean_discrepancy(
        first, second, kernel="linear", paired=paired
    )
    assert ours == pytest.approx(literal(first, second, np.dot, paired=paired), 1e-10)


def population(shift, deviation, bandwidth):
    """Squared discrepancy of N(0, I) and N(shift, deviation^2 I), in closed form.

    The mean of the kernel over two Gaussians whose difference has variance v in each
    direction is (b^2 / (b^2 + v))^(d/2) exp(-|difference of means|^2 / (2 (b^2 + v))).
    """

    def mean(variance, squared_distance):
        total = bandwidth**2 + variance
        share = (bandwidth**2 / total) ** (len(shift) / 2)
        return share * np.exp(-squared_distance / (2 * total))

    across = mean(1 + deviation**2, np.sum(shift**2))
    return mean(2.0, 0.0) + mean(2 * deviation**2, 0.0) - 2 * across


@pytest.mark.parametrize(
    ("shift", "deviation"), [((0.0, 0.0), 1.0), ((0.5, 0.0), 1.0), ((0.0, 0.3), 2.0)]
)
def test_the_mean_over_samples_is_the_population_value(shift, deviation):
    generator = np.random.default_rng(2)
    shift = np.array(shift)
    estimates = [
        squared_maximum_mean_discrepancy(
            generator.normal(size=(12, 2)),
            shift + deviation * generator.normal(size=(15, 2)),
            bandwidth=1.5,
        )
        for _ in range(2000)
    ]
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - population(shift, deviation, 1.5)) < 4 * error
    # Unbiased means that some are below 0 where the population value is small.
    assert min(estimates) < 0


def test_pairs_that_depend_on_each_other_do_not_bias_the_paired_estimate():
    generator = np.random.default_rng(3)
    paired, plain = [], []
    for _ in range(1000):
        first = generator.normal(size=(10, 1))
        second = 0.9 * first + np.sqrt(1 - 0.81) * generator.normal(size=(10, 1))
        both = {"first": first, "second": second, "bandwidth": 1.0}
        paired.append(squared_maximum_mean_discrepancy(**both, paired=True))
        plain.append(squared_maximum_mean_discrepancy(**both))
    assert abs(np.mean(paired)) < 4 * np.std(paired) / np.sqrt(1000)
    assert np.mean(plain) < -0.03


def test_large_samples_approach_the_population_value():
    generator = np.random.default_rng(4)
    first = generator.normal(size=(3000, 2))
    second = generator.normal(size=(2500, 2)) + [1.0, 0.0]
    ours = squared_maximum_mean_discrepancy(first, second, bandwidth=1.0)
    assert ours == pytest.approx(population(np.array([1.0, 0.0]), 1.0, 1.0), rel=0.1)


def test_a_shift_of_both_samples_changes_nothing():
    generator = np.random.default_rng(5)
    first, second = generator.normal(size=(2, 50, 3))
    ours = squared_maximum_mean_discrepancy(first, second)
    moved = squared_maximum_mean_discrepancy(first + 1e4, second + 1e4)
    assert moved == pytest.approx(ours, abs=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
@pytest.mark.parametrize("paired", [False, True])
def test_the_matrix_holds_every_pair(kernel, paired):
    samples = np.random.default_rng(6).normal(size=(3, 20, 2))
    options = {"kernel": kernel, "bandwidth": 0.8, "paired": paired}
    matrix = discrepancy_matrix(samples, **options)
    for row in range(3):
        assert matrix[row, row] == 0
        for column in set(range(3)) - {row}:
            expected = squared_maximum_mean_discrepancy(
                samples[row], samples[column], **options
            )
            assert matrix[row, column] == pytest.approx(expected, abs=1e-12)


def test_the_median_is_of_distances_between_rows():
    sample = np.random.default_rng(7).normal(size=(40, 3))
    distances = [
        np.linalg.norm(sample[i] - sample[j]) for i in range(40) for j in range(i)
    ]
    assert median_distance(sample) == pytest.approx(np.median(distances))
    few = median_distance(sample, max_rows=20)
    assert few == median_distance(sample, max_rows=20)
    assert few != median_distance(sample)
    assert few != median_distance(sample, max_rows=20, seed=1)


def test_equal_rows_have_a_bandwidth_too():
    assert median_distance(np.zeros((5, 2))) == 1.0
    mostly = np.zeros((10, 1))
    mostly[0] = 5.0
    assert median_distance(mostly) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (np.zeros((3, 2)), np.zeros((3, 1)), {}, r"second must have shape \(n_rows, 2"),
        (np.zeros(3), np.zeros(3), {}, r"first must have shape \(n_rows, n_features"),
        (np.zeros((1, 2)), np.zeros((3, 2)), {}, "at least two rows per sample"),
        (np.zeros((2, 2)), np.zeros((3, 2)), {"paired": True}, "paired"),
        (np.full((2, 2), np.nan), np.zeros((3, 2)), {}, "first must be finite"),
        (
            np.zeros((2, 2)),
            np.zeros((3, 2)),
            {"bandwidth": 0.0},
            "bandwidth must be positive, got 0.0",
        ),
        (np.zeros((2, 2)), np.zeros((3, 2)), {"kernel": "cubic"}, "'cubic'"),
    ],
)
def test_impossible_requests_are_refused(first, second, options, message):
    with pytest.raises(ValueError, match=message):
        squared_maximum_mean_discrepancy(first, second, **options)


def test_a_matrix_needs_samples_of_rows():
    with pytest.raises(ValueError, match="n_samples, n_rows, n_features"):
        discrepancy_matrix(np.zeros((3, 2)))
