"""Perceived distances against literal loops, and against the published tables."""

import tracemalloc

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr

import unbraid
from unbraid.data import (
    LabeledImages,
    Sprites2D,
    Subset,
    Vectors,
    XYObject,
    XYSquares,
)
from unbraid.models import Bernoulli, KernelAugmented, Laplace, save_likelihood
from unbraid.perception import (
    LOSSES,
    compare_factor_choices,
    compare_visibilities,
    disentanglement_verdicts,
    perceived_distances,
)
from unbraid.perception._losses import group_distances

# Michlo (2022), Table 4.2: spacing, then linear and rank correlation by squared error
# and through a box.
TABLE_4_2 = [
    (1, 1.00, 1.00, 0.98, 0.99),
    (2, 0.94, 0.99, 0.99, 0.99),
    (3, 0.86, 0.95, 0.99, 0.99),
    (4, 0.75, 0.85, 0.99, 0.99),
    (5, 0.72, 0.85, 0.99, 0.99),
    (6, 0.67, 0.85, 0.98, 0.98),
    (7, 0.60, 0.85, 0.97, 0.98),
    (8, 0.52, 0.58, 0.96, 0.97),
]


def tiny_objects():
    return XYObject(image_size=8, square_sizes=(1, 3), spacing=2, palette="rgb_1")


def every_pair_along(dataset, factor):
    """Distances of all ordered pairs that differ in one factor at most, by loops."""
    space = dataset.factor_space
    column = space.position(factor)
    images = dataset.images(np.arange(len(dataset))) / 255
    seen, known = [], []
    for row in range(len(dataset)):
        for other in space.traversals(factor, np.array([row]))[0]:
            seen.append(np.mean((images[row] - images[other]) ** 2))
            values = space.factors(np.array([row, other]))[:, column]
            known.append(abs(int(values[0]) - int(values[1])))
    return np.array(seen), np.array(known)


@pytest.mark.parametrize("factor", ["x", "y", "scale", "color"])
def test_numbers_of_a_factor_are_those_of_all_its_pairs(factor):
    dataset = tiny_objects()
    seen, known = every_pair_along(dataset, factor)
    row = perceived_distances(dataset, n_pairs=40_000)[factor]
    is_distinct = known > 0
    assert row.mean == pytest.approx(seen[is_distinct].mean(), rel=0.02)
    assert row.std == pytest.approx(seen[is_distinct].std(), rel=0.03)
    assert row.linear == pytest.approx(pearsonr(seen, known).statistic, abs=0.02)
    assert row.rank == pytest.approx(spearmanr(seen, known).statistic, abs=0.02)
    assert len(row.distances) == 40_000
    assert (np.diff(row.distances) >= 0).all()


def test_random_numbers_are_those_of_all_pairs():
    dataset = tiny_objects()
    images = dataset.images(np.arange(len(dataset))).reshape(len(dataset), -1) / 255
    factors = dataset.factor_space.factors(np.arange(len(dataset)))
    first, second = np.divmod(np.arange(len(dataset) ** 2), len(dataset))
    seen = np.mean((images[first] - images[second]) ** 2, axis=1)
    known = np.abs(factors[first] - factors[second]).sum(axis=1)
    row = perceived_distances(dataset, n_pairs=40_000).random
    assert row.mean == pytest.approx(seen[first != second].mean(), rel=0.02)
    assert row.std == pytest.approx(seen[first != second].std(), rel=0.03)
    assert row.linear == pytest.approx(pearsonr(seen, known).statistic, abs=0.02)
    assert row.rank == pytest.approx(spearmanr(seen, known).statistic, abs=0.02)


@pytest.mark.parametrize("name", LOSSES)
def test_groups_give_the_distance_of_the_loss_itself(name):
    generator = torch.Generator().manual_seed(0)
    shape = (3, 4, 2, 6, 6)
    images = torch.rand(shape, generator=generator, dtype=torch.float64)
    group, first, second = torch.randint(0, 3, (3, 20), generator=generator)
    found = group_distances(LOSSES[name], images, group, first, second)
    expected = LOSSES[name].distance(images[group, first], images[group, second])
    torch.testing.assert_close(found, expected)


def test_a_function_of_the_user_is_a_loss_too():
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)

    def absolute(images, others):
        return (images - others).abs().flatten(1).sum(dim=1)

    own = perceived_distances(squares, absolute, n_pairs=500)
    assert own == perceived_distances(squares, Laplace(), n_pairs=500)
    with pytest.raises(
        ValueError, match=r"distances of the loss must have shape \(\d+,\), got"
    ):
        perceived_distances(squares, lambda x, y: x - y, n_pairs=500)
    with pytest.raises(ValueError, match="distances of the loss must be finite"):
        perceived_distances(squares, lambda x, y: absolute(x, y) / 0, n_pairs=500)


@pytest.mark.parametrize("row", TABLE_4_2, ids=lambda row: f"spacing {row[0]}")
def test_table_4_2_is_met(row):
    spacing, *printed = row
    # Squares in other channels would add nothing along the factors of this one.
    squares = XYSquares(spacing=spacing, n_squares=1, rgb=False)
    found = []
    for loss in ("mse", "mse-box"):
        seen = perceived_distances(squares, loss, n_pairs=4_000)
        # "all: x & y": the factors are alike.
        found += [
            np.mean([factor.linear for factor in seen.factors]),
            np.mean([factor.rank for factor in seen.factors]),
        ]
    np.testing.assert_allclose(found, printed, atol=0.02)


def test_table_3_1_is_met_for_squares():
    found = perceived_distances(XYSquares(), n_pairs=5_000)
    for factor in found.factors:
        assert factor.mean == pytest.approx(0.0104, abs=5e-5)
        assert factor.std == pytest.approx(0.0, abs=1e-9)
    assert found.random.mean == pytest.approx(0.0308, abs=2e-4)
    assert found.random.std == pytest.approx(0.0022, abs=2e-4)


def test_random_columns_of_table_6_1_come_from_subsets_of_32():
    # The miniature has the same distances to squared error, and a box of radius 3
    # in place of 31 gives nearly the same.
    squares = XYSquares(image_size=8, square_size=1)
    plain = perceived_distances(squares, n_pairs=20_000)
    assert plain.random.linear == pytest.approx(0.25, abs=0.02)
    assert plain.random.rank == pytest.approx(0.23, abs=0.02)
    subsets = perceived_distances(squares, n_pairs=20_000, subset_size=32)
    assert subsets.random.linear == pytest.approx(0.55, abs=0.02)
    assert subsets.random.rank == pytest.approx(0.36, abs=0.02)
    assert subsets.factors == plain.factors


def test_an_incomplete_table_uses_the_pairs_it_has():
    squares = XYSquares(image_size=8, square_size=2, n_squares=1)
    whole = perceived_distances(squares, "mse-box", n_pairs=5_000)
    part = Subset(squares, np.arange(len(squares) - 1))
    assert not part.is_grid
    found = perceived_distances(part, "mse-box", n_pairs=5_000)
    for factor in ("x_R", "y_R"):
        assert found[factor].mean == pytest.approx(whole[factor].mean, rel=0.05)
        assert found[factor].rank == pytest.approx(whole[factor].rank, abs=0.05)


def test_rows_that_never_differ_in_one_factor_alone_give_no_number():
    labels = np.array([[0, 0], [1, 1], [2, 2]])
    images = np.zeros((3, 1, 4, 4), np.uint8)
    images[1:] = 9
    dataset = LabeledImages(images, labels, channels_first=True)
    found = perceived_distances(dataset, n_pairs=50)
    assert [row["mean"] for row in found.to_plain()[:-1]] == [None, None]
    assert found.random.mean > 0
    assert found.importance == ()
    verdicts = disentanglement_verdicts(found)
    assert {verdict.expectation for verdict in verdicts} == {"unknown"}


def test_images_without_labels_have_random_pairs_only(plain_images):
    (row,) = perceived_distances(plain_images, n_pairs=100).to_plain()
    assert row["factor"] == "random"
    assert row["mean"] > 0
    assert row["linear"] is None


def test_a_constant_factor_has_a_row_of_nothing():
    objects = XYObject(image_size=8, square_sizes=(3,), palette="rgb_1")
    found = perceived_distances(objects, n_pairs=200)
    assert found["scale"].to_plain()["mean"] is None
    assert "scale" not in found.importance


def test_vectors_are_compared_by_losses_for_any_numbers():
    values = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    vectors = Vectors(values)
    row = perceived_distances(vectors, n_pairs=20_000).random
    apart = np.square(values[:, None] - values).mean(axis=2)
    assert row.mean == pytest.approx(apart[~np.eye(40, dtype=bool)].mean(), rel=0.05)
    with pytest.raises(ValueError, match="needs numbers from 0 to 1"):
        perceived_distances(vectors, Bernoulli())
    with pytest.raises(ValueError, match="Vectors have no neighborhoods"):
        perceived_distances(vectors, "mse-box")


def test_the_same_seed_gives_the_same_numbers():
    dataset = tiny_objects()
    first, again, other = (
        perceived_distances(dataset, n_pairs=100, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_importance_is_the_order_of_mean_distances():
    found = perceived_distances(Sprites2D(image_size=16), n_pairs=2_000)
    means = [found[name].mean for name in found.importance]
    assert means == sorted(means, reverse=True)
    assert set(found.importance[:2]) == {"position_x", "position_y"}


def test_a_saved_loss_is_found_by_its_path(tmp_path):
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)
    own = KernelAugmented(kernel=np.ones((3, 3)), weight=0.5)
    path = save_likelihood(own, tmp_path / "loss.json")
    found = perceived_distances(squares, path, n_pairs=200)
    assert found == perceived_distances(squares, own, n_pairs=200)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "msd"}, "loss must be one of mse, mae"),
        ({"n_pairs": 1}, "n_pairs must be a whole number of at least 2, got 1"),
        ({"subset_size": 1}, "subset_size must be a whole number of at least 2, got 1"),
    ],
)
def test_bad_settings_are_refused(options, message, tiny_grid):
    with pytest.raises(ValueError, match=message):
        perceived_distances(tiny_grid, **options)


def test_one_image_is_too_few(tiny_grid):
    with pytest.raises(
        ValueError,
        match="The number of images must be a whole number of at least 2, got 1",
    ):
        perceived_distances(Subset(tiny_grid, [0]))


def test_verdicts_follow_overlap_and_order():
    overlapping = XYSquares(spacing=1, n_squares=1)
    constant = XYSquares(n_squares=1)
    expected = {
        "likely": perceived_distances(overlapping, n_pairs=1_000),
        "no": perceived_distances(constant, n_pairs=1_000),
    }
    for expectation, found in expected.items():
        verdicts = disentanglement_verdicts(found)
        assert {verdict.expectation for verdict in verdicts} == {expectation}
    assert "kernel-augmented loss, or supervision" in verdicts[0].reason
    through_box = perceived_distances(constant, "mse-box", n_pairs=1_000)
    verdicts = disentanglement_verdicts(through_box)
    assert {verdict.expectation for verdict in verdicts} == {"likely"}
    assert "among the first" in verdicts[0].reason


def test_visible_pictures_hide_the_factors_wherever_they_stand():
    sprites = Sprites2D(image_size=16, n_scales=3, n_orientations=4, n_positions=8)
    for where in ("behind", "inside"):
        found = compare_visibilities(
            sprites, where=where, visibilities=(0, 50, 100), n_pairs=2_000
        )
        ranks = [found[percent]["position_x"].rank for percent in ("0%", "50%", "100%")]
        assert ranks == sorted(ranks, reverse=True)
        plain = perceived_distances(sprites, n_pairs=2_000)
        assert found["0%"]["position_x"].rank == pytest.approx(plain["position_x"].rank)


def test_order_is_found_within_traversals_of_faint_and_bright_images():
    # Darker squares differ less wherever they go, which blurs the pooled correlation.
    objects = XYObject(image_size=16, square_sizes=(7,), spacing=1, palette="greys_4")
    row = perceived_distances(objects, n_pairs=5_000)["x"]
    assert row.order > 0.95 > row.rank
    constant = perceived_distances(XYSquares(image_size=8, square_size=1), n_pairs=500)
    assert constant["x_R"].order == pytest.approx(0.0, abs=1e-12)


def test_a_factor_may_be_called_random():
    labels = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]])
    images = np.arange(6 * 16, dtype=np.uint8).reshape(6, 1, 4, 4)
    names = ("random", "other")
    dataset = LabeledImages(images, labels, factor_names=names, channels_first=True)
    first, second, last = perceived_distances(dataset, n_pairs=500).to_plain()
    assert (first["factor"], last["factor"]) == ("random", "random")
    assert first["rank"] == pytest.approx(1.0)
    assert second["rank"] == pytest.approx(1.0)
    assert last["rank"] < 1.0


def test_arrays_are_to_be_wrapped():
    with pytest.raises(TypeError, match="needs a dataset, got ndarray"):
        perceived_distances(np.zeros((5, 3, 8, 8)))


def test_a_loss_that_is_none_is_refused():
    with pytest.raises(ValueError, match="loss must be one of mse"):
        perceived_distances(XYSquares(image_size=8, square_size=1), 3)


def test_a_loss_may_return_arrays_but_one_number_a_pair():
    data = XYSquares(image_size=8, square_size=1)
    with pytest.raises(
        ValueError, match=r"distances of the loss must have shape .* got \(3,\)"
    ):
        perceived_distances(data, lambda first, second: np.zeros(3), n_pairs=50)


def test_a_grid_that_memory_could_not_list_is_measured():
    # 64 ** 6 images: a list of their rows would take 512 GiB.
    pixels = XYSquares(square_size=1)
    tracemalloc.start()
    try:
        found = perceived_distances(pixels, n_pairs=64)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2**28
    assert found["x_R"].mean == pytest.approx(2 / 3 / 64**2)
    assert found["x_R"].std == pytest.approx(0.0, abs=1e-12)


def test_a_model_stands_for_the_loss_it_was_trained_with():
    squares = XYSquares(image_size=8, square_size=2, n_squares=2)
    augmented = KernelAugmented(radius=3)
    for standardize in (False, True):
        model = unbraid.fit(
            "vae",
            squares,
            likelihood=augmented,
            network="dense",
            standardize=standardize,
            steps=1,
            n_latents=2,
            progress=False,
        ).model
        own = perceived_distances(squares, model, n_pairs=200)
        literal = perceived_distances(squares, model.perceived_distance, n_pairs=200)
        for row, same in zip(own.rows, literal.rows, strict=True):
            assert row.mean == pytest.approx(same.mean, rel=1e-5)
            assert row.rank == pytest.approx(same.rank, abs=1e-6)
        if not standardize:
            by_likelihood = perceived_distances(squares, augmented, n_pairs=200)
            assert own.rows == by_likelihood.rows


def test_gaussian_row_of_table_6_1_is_met():
    # Michlo (2022), Table 6.1, Gaussian of radius 31.
    found = perceived_distances(
        XYSquares(), "mse-gaussian", n_pairs=1_500, subset_size=32
    )
    linear = np.mean([row.linear for row in found.factors])
    rank = np.mean([row.rank for row in found.factors])
    assert linear == pytest.approx(0.84, abs=0.02)
    assert rank == pytest.approx(0.88, abs=0.02)
    assert found.random.linear == pytest.approx(0.73, abs=0.03)
    assert found.random.rank == pytest.approx(0.61, abs=0.03)


def test_perceived_distances_are_available_as_a_table():
    found = perceived_distances(XYSquares(image_size=8, square_size=1), n_pairs=200)
    frame = found.to_frame().set_index("factor")
    assert list(frame.index) == [row.factor for row in found.rows]
    assert frame.index[-1] == "random"
    for name in ("mean", "std", "linear", "rank", "order", "n_values"):
        assert frame.loc["x_R", name] == getattr(found["x_R"], name)


SMALL = {"image_size": 16, "square_sizes": (3, 5), "n_pairs": 200}


@pytest.mark.parametrize("option", [{"spacing": 4}, {"loss": "mae"}, {"seed": 1}])
def test_options_of_factor_choices_change_the_distances(option):
    changed = compare_factor_choices(**SMALL, **option)["xy_object"]
    usual = compare_factor_choices(**SMALL)["xy_object"]
    assert changed.random.mean != usual.random.mean


@pytest.mark.parametrize(
    "option",
    [
        {"pictures": XYObject(image_size=16, square_sizes=(3, 5))},
        {"loss": "mae"},
        {"seed": 1},
    ],
    ids=str,
)
def test_options_of_visibilities_change_the_distances(option):
    sprites = Sprites2D(image_size=16, n_scales=2, n_orientations=3, n_positions=4)
    options = {"visibilities": (100,), "n_pairs": 200}
    changed = compare_visibilities(sprites, **options, **option)["100%"]
    usual = compare_visibilities(sprites, **options)["100%"]
    assert changed.random.mean != usual.random.mean
