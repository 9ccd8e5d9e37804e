import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from unbraid.geometry import Geomancer, alignment_error, product_manifold, sphere


@pytest.fixture(scope="module")
def two_spheres():
    return product_manifold("S2xS2", 700, rotated=True)


@pytest.fixture(scope="module")
def fitted(two_spheres):
    return Geomancer(4).fit(two_spheres.points)


def test_two_spheres_are_told_apart(two_spheres, fitted):
    assert fitted.is_product_
    assert fitted.dimensions_ == (2, 2)
    assert fitted.is_flat_ == (False, False)
    assert fitted.n_parallel_ == 1
    assert fitted.confidence_ > 0.9
    assert alignment_error(fitted.components_, two_spheres.tangents).mean() < 0.15


@pytest.mark.parametrize(
    ("factors", "n_points"), [("S2xS3", 600), ("S2xSO3", 1500), ("S2xS1", 400)]
)
def test_factors_of_different_kinds_are_told_apart(factors, n_points):
    sample = product_manifold(factors, n_points, rotated=True, seed=1)
    found = Geomancer().fit(sample.points)
    assert found.dimension_ == sample.dimension
    assert found.dimensions_ == sample.dimensions
    assert alignment_error(found.components_, sample.tangents).mean() < 0.15


@pytest.mark.slow
@pytest.mark.parametrize(("factors", "n_points"), [("S2xS2xS2", 3000)])
def test_three_factors_are_told_apart(factors, n_points):
    sample = product_manifold(factors, n_points, rotated=True)
    found = Geomancer().fit(sample.points)
    assert found.dimensions_ == (2, 2, 2)
    assert alignment_error(found.components_, sample.tangents).mean() < 0.15


def test_parts_are_in_the_same_order_at_all_points(two_spheres, fitted):
    first = [fitted.components_[0], fitted.components_[1]]
    angles = [
        alignment_error([first[0]], [true]).mean() for true in two_spheres.tangents
    ]
    assert min(angles) < 0.15
    assert max(angles) > 1.4


@pytest.mark.parametrize("factors", ["S2", "S3", "SO3", "S4"])
def test_one_factor_alone_is_not_split(factors):
    sample = product_manifold(factors, 600, rotated=True)
    found = Geomancer(sample.dimension).fit(sample.points)
    assert not found.is_product_
    assert found.dimensions_ == (sample.dimension,)
    assert found.is_flat_ == (False,)
    assert found.confidence_ == 0
    assert found.summary().startswith("no product structure found")
    assert (found.components_[0] == found.tangents_).all()


@pytest.mark.parametrize("factors", ["T2", "T3"])
def test_a_torus_is_flat_and_has_no_splitting(factors):
    sample = product_manifold(factors, 500, rotated=True)
    found = Geomancer(sample.dimension).fit(sample.points)
    k = sample.dimension
    # All constant fields are parallel.
    assert found.n_parallel_ == k * (k + 1) // 2 - 1
    assert found.dimensions_ == (k,)
    assert found.is_flat_ == (True,)
    assert not found.is_product_
    assert "without holonomy" in found.summary()


def test_two_circles_beside_a_sphere_are_one_flat_part():
    sample = product_manifold("S2xT2", 900, rotated=True)
    found = Geomancer(4).fit(sample.points)
    # The projections onto both, less the identity, and two more within the torus.
    assert found.n_parallel_ == 3
    assert found.dimensions_ == (2, 2)
    assert found.is_flat_ == (False, True)
    assert alignment_error(found.components_, sample.tangents).mean() < 0.15
    assert found.summary().endswith("flat, without holonomy: 2")


def test_a_flat_cloud_of_many_dimensions_gets_the_eigenvalues_it_needs():
    points = np.random.default_rng(0).uniform(size=(300, 5))
    found = Geomancer(5).fit(points)
    assert len(found.spectrum_) == 15
    assert found.spectrum_[:14] == pytest.approx(0, abs=1e-8)
    assert found.is_flat_ == (True,)


def test_a_circle_is_a_line_and_flat():
    sample = sphere(50, 1)
    found = Geomancer(1).fit(sample.points)
    assert found.dimensions_ == (1,)
    assert found.is_flat_ == (True,)
    assert len(found.spectrum_) == 0


def test_noise_is_not_split():
    points = np.random.default_rng(0).normal(size=(500, 8))
    found = Geomancer(4).fit(points)
    assert not found.is_product_
    assert found.gap_ < 0.5


def test_given_tangents_are_used(two_spheres):
    true = np.concatenate(two_spheres.tangents, axis=2)
    found = Geomancer().fit(two_spheres.points, tangents=true)
    assert found.dimension_ == 4
    assert found.spectrum_[0] < 1e-10
    assert alignment_error(found.components_, two_spheres.tangents).max() < 1e-4


def test_given_neighbors_are_used(two_spheres, fitted):
    squares = np.square(two_spheres.points[:, None] - two_spheres.points).sum(axis=2)
    nearest = np.argsort(squares, axis=1)[:, 1:29]
    found = Geomancer(4).fit(two_spheres.points, neighbors=nearest[:, :28])
    assert found.n_neighbors_ == 28
    assert found.dimensions_ == (2, 2)
    assert found.spectrum_[1] > 2 * fitted.spectrum_[1]


def test_a_common_metric_is_a_change_of_coordinates(two_spheres, fitted):
    stretch = np.diag([1.0, 3.0, 1.0, 0.5, 2.0, 1.0])
    points = two_spheres.points @ np.linalg.inv(stretch)
    found = Geomancer(4).fit(points, metric=stretch @ stretch)
    assert found.spectrum_ == pytest.approx(fitted.spectrum_, rel=0.02, abs=1e-4)
    back = [stretch @ part for part in found.components_]
    assert alignment_error(back, two_spheres.tangents).mean() < 0.15


def spherical_coordinates(n_points, seed):
    """Latitude and longitude on a part of two spheres, and the metric there."""
    generator = np.random.default_rng(seed)
    polar = np.arccos(generator.uniform(-0.8, 0.8, (n_points, 2)))
    around = generator.uniform(0, 4, (n_points, 2))
    coordinates = np.stack([polar[:, 0], around[:, 0], polar[:, 1], around[:, 1]], 1)
    metric = np.zeros((n_points, 4, 4))
    metric[:, 0, 0] = metric[:, 2, 2] = 1
    metric[:, 1, 1], metric[:, 3, 3] = (np.sin(polar) ** 2).T
    return coordinates, metric


def test_a_metric_at_each_point_finds_factors_in_mixed_coordinates():
    coordinates, metric = spherical_coordinates(1000, 0)
    mix = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    mix = mix @ np.diag([1.0, 0.8, 1.2, 1.0])
    mixed = coordinates @ mix.T
    back = np.linalg.inv(mix)
    found = Geomancer().fit(mixed, metric=back.T @ metric @ back)
    assert found.dimensions_ == (2, 2)
    axes = np.tile(mix, (1000, 1, 1))
    true = [np.linalg.qr(axes[:, :, part])[0] for part in ([0, 1], [2, 3])]
    parts = [np.linalg.qr(part)[0] for part in found.components_]
    assert alignment_error(parts, true).mean() < 0.15


def test_christoffel_symbols_of_the_sphere_are_those_of_the_textbook():
    from unbraid.geometry._neighbor_graph import nearest_neighbors
    from unbraid.geometry._parallel_transport import christoffel_symbols

    generator = np.random.default_rng(0)
    coordinates = generator.uniform([0.8, 0], [2.2, 1.4], (2000, 2))
    metric = np.zeros((2000, 2, 2))
    metric[:, 0, 0], metric[:, 1, 1] = 1, np.sin(coordinates[:, 0]) ** 2
    neighbors = nearest_neighbors(coordinates, 10)
    symbols = christoffel_symbols(coordinates, metric, neighbors)
    polar = coordinates[:, 0]
    expected = np.zeros_like(symbols)
    expected[:, 0, 1, 1] = -np.sin(polar) * np.cos(polar)
    expected[:, 1, 0, 1] = expected[:, 1, 1, 0] = 1 / np.tan(polar)
    assert np.abs(symbols - expected).mean() < 1e-3


def test_gamma_decides_alone(two_spheres, fitted):
    above = float(fitted.spectrum_[0] + fitted.spectrum_[1]) / 2
    assert Geomancer(4, gamma=above).fit(two_spheres.points).dimensions_ == (2, 2)
    found = Geomancer(4, gamma=1e-12).fit(two_spheres.points)
    assert found.n_parallel_ == 0
    assert found.dimensions_ == (4,)


def test_the_same_seed_gives_the_same_result(two_spheres, fitted):
    again = clone(fitted).fit(two_spheres.points)
    assert (again.spectrum_ == fitted.spectrum_).all()
    assert (again.components_[0] == fitted.components_[0]).all()


def test_turning_the_points_turns_the_result(two_spheres, fitted):
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(6, 6)))[0]
    found = Geomancer(4).fit(two_spheres.points @ turn.T)
    assert found.spectrum_ == pytest.approx(fitted.spectrum_, rel=0.02, abs=1e-4)
    assert (
        alignment_error(
            found.components_, [turn @ part for part in fitted.components_]
        ).mean()
        < 0.01
    )


APART = sphere(40, 2).points


def bad(points=None, dimension=2, n_neighbors=None, **given):
    points = sphere(60, 2).points if points is None else points
    options = {
        name: given.pop(name)
        for name in ("gamma", "n_eigenvectors", "n_tangent_neighbors")
        if name in given
    }
    return Geomancer(dimension, n_neighbors, **options).fit(points, **given)


def with_nan():
    points = sphere(60, 2).points
    points[7, 1] = np.nan
    return points


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"points": sphere(5, 2).points}, "more points than neighbors, got 5 points"),
        ({"n_neighbors": 60}, "more points than neighbors, got 60 points for 60"),
        ({"points": np.tile(sphere(30, 2).points, (2, 1))}, "but 30 repeat another"),
        ({"points": with_nan()}, r"points must be finite, but points\[7, 1\] is nan"),
        ({"dimension": 4}, "dimension must be between 1 and 3, got 4"),
        ({"dimension": 0}, "dimension must be between 1 and 3, got 0"),
        ({"dimension": 1.5}, "dimension must be an integer, got 1.5"),
        (
            {"points": np.concatenate([sphere(60, 2).points, [[9, 9, 9]] + APART])},
            "not connected: it has 2 pieces.*60, 40",
        ),
        ({"points": np.arange(9.0)}, r"points must have shape .*, got \(9,\)"),
        ({"points": np.empty((0, 3))}, r"points must not be empty, got shape \(0, 3\)"),
        ({"points": np.array([["a", "b"]])}, "points must be numeric, got dtype <U1"),
        ({"points": [[1.0, 2.0], [3.0]]}, "the same number of coordinates"),
        ({"points": 1e200 * sphere(60, 2).points}, "between 1e-100 and .*Rescale"),
        ({"points": 1e-200 * sphere(60, 2).points}, "between 1e-100 and .*Rescale"),
        ({"points": 1.7e308 * sphere(60, 2).points}, "between 1e-100 and .* got inf"),
        ({"dimension": True}, "dimension must be an integer, got True"),
        ({"n_eigenvectors": 1}, "n_eigenvectors must be at least 2, got 1"),
        ({"n_eigenvectors": None}, "n_eigenvectors must be an integer, got None"),
        ({"n_tangent_neighbors": 0}, "n_tangent_neighbors must be at least 1, got 0"),
        ({"gamma": float("nan")}, "gamma must be a finite number, got nan"),
        ({"gamma": "much"}, "gamma must be a finite number, got 'much'"),
        ({"n_neighbors": 0}, "n_neighbors must be at least 1, got 0"),
        ({"points": sphere(3, 2).points, "dimension": None}, "more points than"),
        ({"neighbors": np.zeros((60, 2))}, "neighbors must be integers, got dtype"),
        ({"neighbors": np.full((60, 2), 60)}, "between 0 and 59, got 60 to 60"),
        ({"neighbors": np.zeros((60, 2), int)}, r"neighbors\[0\] contains 0"),
        ({"tangents": np.zeros((60, 3, 2))}, "columns of tangents must be orthonormal"),
        ({"tangents": np.zeros((60, 2))}, r"tangents must have shape \(60, 3, dimens"),
        ({"metric": np.eye(2)}, r"metric must have shape \(3, 3\)"),
        ({"metric": -np.eye(3)}, "symmetric and positive definite"),
        ({"metric": np.eye(3), "tangents": np.zeros((60, 3, 2))}, "given together"),
    ],
)  # fmt: skip
def test_wrong_input_is_refused_in_one_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        bad(**given)


def test_a_summary_before_the_fit_is_refused():
    with pytest.raises(NotFittedError):
        Geomancer(3).summary()
