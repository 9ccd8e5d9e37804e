import types

import numpy as np
import pytest
import torch
from plain_images import PlainImages
from sklearn.decomposition import PCA

import unbraid
from unbraid.data import LabeledImages, XYSquares
from unbraid.foundation import DataFormatError

TINY = XYSquares(image_size=8, square_size=1, n_squares=1, rgb=False)


def flat(images):
    return images.flatten(1)


def expected_pixels(dataset=TINY):
    return dataset.images(range(len(dataset))).reshape(len(dataset), -1) / 255


def test_codes_are_in_the_order_of_the_rows_with_their_factors():
    result = unbraid.encode(flat, TINY, batch_size=7)
    np.testing.assert_allclose(result.codes, expected_pixels(), atol=1e-7)
    np.testing.assert_array_equal(result.factors, TINY.factors(range(64)))
    assert result.factor_names == ("x_R", "y_R")
    assert result.rows.tolist() == list(range(64))
    assert result.source == "flat on xy_squares"


def test_some_rows_may_be_asked_for_in_any_order():
    result = unbraid.encode(flat, TINY, rows=[5, 3, 3])
    np.testing.assert_allclose(result.codes, expected_pixels()[[5, 3, 3]], atol=1e-7)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda codes: codes,
        lambda codes: (codes, codes * 0),
        lambda codes: [codes],
        lambda codes: {"pooler_output": codes},
        lambda codes: types.SimpleNamespace(image_embeds=codes, logits=codes * 0),
        lambda codes: codes.numpy(),
        lambda codes: codes.reshape(len(codes), 8, 8),
        lambda codes: codes.to(torch.bfloat16),
    ],
    ids=[
        "tensor",
        "tuple",
        "list",
        "mapping",
        "namespace",
        "array",
        "image",
        "bfloat16",
    ],
)
def test_any_output_that_can_be_flattened_is_taken(wrap):
    result = unbraid.encode(lambda images: wrap(flat(images)), TINY)
    np.testing.assert_allclose(result.codes, expected_pixels(), atol=1e-2)
    assert result.log_variances is None


class Posterior:
    def __init__(self, images):
        self.mean, self.log_variance = flat(images), flat(images) - 3


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 2)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, images):
        assert not torch.is_grad_enabled()
        return self.dropout(self.layer(flat(images)))


def test_a_posterior_gives_means_and_log_variances():
    model = types.SimpleNamespace(encode=Posterior)
    result = unbraid.encode(model, TINY)
    np.testing.assert_allclose(result.log_variances, expected_pixels() - 3, atol=1e-6)


def test_a_module_is_used_in_evaluation_mode_and_left_as_it_was():
    model = Model()
    first, second = (unbraid.encode(model, TINY).codes for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert model.training


def test_a_transformer_of_scikit_learn_is_given_flat_images():
    pca = PCA(3).fit(expected_pixels())
    result = unbraid.encode(pca, TINY)
    np.testing.assert_allclose(
        result.codes, pca.transform(expected_pixels()), atol=1e-5
    )


def test_codes_that_are_ready_are_joined_with_the_factors():
    codes = np.arange(128.0).reshape(64, 2)
    result = unbraid.encode(codes, TINY, rows=[1, 0])
    np.testing.assert_array_equal(result.codes, codes[[1, 0]])


def test_data_may_be_a_name_or_an_array():
    assert (
        len(unbraid.encode(flat, "xy_squares:image_size=8,square_size=4").codes) == 64
    )
    images = np.zeros((3, 8, 8), dtype=np.uint8)
    assert unbraid.encode(flat, images).factors is None


def test_without_labels_there_are_codes_alone():
    result = unbraid.encode(flat, PlainImages())
    assert result.factors is None
    assert result.factor_names == ()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda images: flat(images)[:-1], "must return one row of codes per image"),
        (lambda images: flat(images) * torch.nan, "codes must be finite"),
        (lambda images: "text", "the encoder must return a tensor"),
        (object(), "encode needs an array, a callable"),
        (np.zeros((3, 2)), r"codes must have shape \(64, n_latents\)"),
    ],
)
def test_encoders_that_are_none_are_refused(model, message):
    with pytest.raises((ValueError, TypeError), match=message):
        unbraid.encode(model, TINY)


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="there are no rows to encode"):
        unbraid.encode(flat, TINY, rows=np.empty(0, dtype=int))


def test_a_saved_representation_comes_back(tmp_path):
    made = unbraid.encode(types.SimpleNamespace(encode=Posterior), TINY)
    made.save(tmp_path / "codes.npz")
    read = unbraid.Representation.load(tmp_path / "codes.npz")
    for name in ("codes", "log_variances", "factors", "rows"):
        np.testing.assert_array_equal(getattr(read, name), getattr(made, name))
    assert read.factor_names == made.factor_names
    assert read.factor_kinds == made.factor_kinds
    assert read.source == made.source
    assert [path.name for path in tmp_path.iterdir()] == ["codes.npz"]


def test_other_archives_are_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(2))
    with pytest.raises(DataFormatError, match="saved representation"):
        unbraid.Representation.load(tmp_path / "other.npz")


def test_labels_with_holes_travel_along():
    images = np.zeros((4, 8, 8), dtype=np.uint8)
    data = LabeledImages(images, {"x": [0.5, np.nan, 0.1, 0.2]})
    result = unbraid.encode(flat, data)
    assert np.isnan(result.factors[1, 0])
    assert result.factor_kinds == ("continuous",)


def test_everything_but_the_codes_is_given_by_name():
    codes, factors = np.zeros((4, 2)), np.zeros((4, 2), dtype=int)
    with pytest.raises(TypeError, match="positional"):
        unbraid.Representation(codes, factors)
    made = unbraid.Representation(codes, factors=factors)
    assert made.log_variances is None
    assert made.factors is factors


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codes": np.zeros(4)}, r"codes must have shape .*got \(4,\)"),
        ({"log_variances": np.zeros((4, 3))}, r"log_variances must .*got \(4, 3\)"),
        ({"factors": np.zeros(4)}, r"factors must have .*got \(4,\)"),
        (
            {"factors": np.zeros((3, 2))},
            r"factors must have shape \(4, n_factors\), got \(3, 2\)",
        ),
        ({"factor_names": ("a",)}, "factor_names must .*2 factors, got 1"),
        ({"factor_kinds": ("ordinal",) * 3}, "factor_kinds must .* got 3"),
        ({"rows": np.arange(3)}, r"rows must .*each of the 4 rows .*got shape \(3,\)"),
    ],
)
def test_shapes_that_do_not_agree_are_refused(changes, message):
    good = {"codes": np.zeros((4, 2)), "factors": np.zeros((4, 2))}
    with pytest.raises(ValueError, match=message):
        unbraid.Representation(**good | changes)


def test_some_rows_keep_everything_that_belongs_to_them():
    whole = unbraid.encode(flat, TINY)
    part = whole.at(np.array([5, 2]))
    assert part.rows.tolist() == [5, 2]
    np.testing.assert_array_equal(part.codes, whole.codes[[5, 2]])
    np.testing.assert_array_equal(part.factors, whole.factors[[5, 2]])
    assert part.factor_names == whole.factor_names


def test_a_representation_of_lists_and_tensors_has_arrays():
    codes = unbraid.Representation(
        [[0.0, 1.0], [2.0, 3.0]], factors=torch.tensor([[0.0], [1.0]]), rows=[4, 5]
    )
    part = codes.at(np.array([1]))
    np.testing.assert_array_equal(part.codes, [[2.0, 3.0]])
    np.testing.assert_array_equal(part.factors, [[1.0]])
    np.testing.assert_array_equal(part.rows, [5])
    with pytest.raises(
        ValueError, match="codes must be an array, but has rows of diff"
    ):
        unbraid.Representation([[0.0], [1.0, 2.0]])


def test_images_are_on_the_device_that_is_asked_for():
    seen = []

    def encoder(images):
        seen.append(images.device)
        return images.flatten(1)

    unbraid.encode(encoder, XYSquares(image_size=8, square_size=2), device="cpu")
    assert set(seen) == {torch.device("cpu")}
    with pytest.raises(RuntimeError, match="nowhere"):
        unbraid.encode(
            encoder, XYSquares(image_size=8, square_size=2), device="nowhere"
        )
