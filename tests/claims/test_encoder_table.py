"""Scores of frozen encoders next to published ones, with small stand-ins."""

import numpy as np
import pytest
import torch

from unbraid import encode, evaluate
from unbraid.data import XYSquares
from unbraid_claims import (
    EncoderScore,
    EncoderTable,
    FrozenEncoder,
    list_clip_encoders,
    score_encoders,
)


@pytest.fixture(scope="module")
def squares():
    return XYSquares(image_size=8, square_size=1, n_squares=1)


class Projection(torch.nn.Module):
    """Random features of the pixels."""

    def __init__(self, n_features, seed):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        weight = torch.randn(3 * 8 * 8, n_features, generator=generator)
        self.weight = torch.nn.Parameter(weight)

    def forward(self, images):
        return images.flatten(1) @ self.weight


def fail(error):
    def load():
        raise error

    return load


def encoders():
    sizes = {"small": 4, "medium": 8, "large": 16}
    convolutional = [
        FrozenEncoder(
            name=name,
            family="convolutional",
            n_parameters=192 * n_features,
            load=lambda n_features=n_features: Projection(n_features, 0),
            published=0.01 * n_features,
        )
        for name, n_features in sizes.items()
    ]
    missing = FrozenEncoder(
        name="absent",
        family="transformer",
        n_parameters=150_000_000,
        load=fail(FileNotFoundError("no weights here")),
        published=0.0235,
    )
    return [*convolutional, missing]


def test_each_encoder_is_scored_on_the_same_rows(squares):
    table = score_encoders(encoders(), squares, n_rows=40)
    assert table == score_encoders(encoders(), squares, n_rows=40)
    order = np.random.default_rng(0).permutation(64)
    assert (
        table.scores[0].measured
        != score_encoders(encoders()[:1], squares, n_rows=40, seed=1).scores[0].measured
    )
    whole = score_encoders(encoders()[:1], squares, n_rows=64).scores[0]
    codes = encode(Projection(4, 0), squares, rows=order, progress=False)
    card = evaluate(codes, metrics="mig", intervals=False, levels=False)
    assert whole.measured == pytest.approx(float(card["mig"]))


def test_what_cannot_be_loaded_is_listed_with_the_reason(squares):
    table = score_encoders(encoders(), squares, n_rows=40)
    absent = table.scores[-1]
    assert absent.measured is None
    assert absent.reason == "no weights here"
    lines = str(table).splitlines()
    row = next(line for line in lines if line.startswith("absent"))
    assert " ".join(row.split()) == "absent transformer 150 M 0.02350 not measured"
    assert "absent: no weights here" in lines
    # One transformer has no trend, published or measured.
    assert table.trend("transformer", "published") is None
    trend = next(line for line in lines if line.startswith("transformer"))
    assert trend.split() == ["transformer", "-", "not", "measured"]
    assert list(table.to_frame()["name"]) == ["small", "medium", "large", "absent"]


def test_a_mistake_in_an_encoder_is_not_hidden(squares):
    broken = FrozenEncoder(
        name="broken",
        family="transformer",
        n_parameters=1,
        load=fail(KeyError("layer")),
    )
    with pytest.raises(KeyError, match="layer"):
        score_encoders([broken], squares)


def test_families_have_trends_of_their_own():
    rows = [
        ("transformer", 10**6, 0.1),
        ("transformer", 10**8, 0.5),
        ("convolutional", 10**6, 0.4),
        ("convolutional", 10**7, 0.3),
        ("convolutional", 10**8, 0.2),
    ]
    scores = tuple(
        EncoderScore(name=str(size), family=family, n_parameters=size, measured=value)
        for family, size, value in rows
    )
    table = EncoderTable(metric="mig", data="somewhere", scores=scores)
    assert table.trend("transformer", "measured") == pytest.approx(0.2)
    assert table.trend("convolutional", "measured") == pytest.approx(-0.1)
    assert table.trend("convolutional", "published") is None
    assert "Not measured" not in str(table)
    assert str(table).endswith("Measured on somewhere.")


def test_two_encoders_of_one_size_have_no_trend():
    scores = tuple(
        EncoderScore(name=name, family="transformer", n_parameters=7, measured=value)
        for name, value in (("a", 0.1), ("b", 0.2))
    )
    table = EncoderTable(metric="mig", data="", scores=scores)
    assert table.trend("transformer", "measured") is None


def test_wrong_settings_are_rejected(squares):
    with pytest.raises(ValueError, match="family must be 'convolutional' or"):
        FrozenEncoder(name="a", family="mlp", n_parameters=1, load=Projection)  # pyright: ignore
    with pytest.raises(ValueError, match="n_parameters must be at least 1, got 0"):
        FrozenEncoder(name="a", family="transformer", n_parameters=0, load=Projection)
    with pytest.raises(ValueError, match="n_rows must be at least 2, got 1"):
        score_encoders([], squares, n_rows=1)


def test_the_published_table_is_complete():
    # Ottlik, Ram and Liss (2022), Table 1: millions of parameters and MIG.
    printed = {
        "RN50": (102, 0.00441),
        "RN50x4": (178, 0.01763),
        "RN50x16": (291, 0.02616),
        "ViT-B/16": (150, 0.02350),
        "ViT-L/14": (428, 0.02550),
    }
    listed = list_clip_encoders()
    assert {
        encoder.name: (round(encoder.n_parameters / 1e6), encoder.published)
        for encoder in listed
    } == printed
    scores = tuple(
        EncoderScore(
            name=encoder.name,
            family=encoder.family,
            n_parameters=encoder.n_parameters,
            published=encoder.published,
        )
        for encoder in listed
    )
    table = EncoderTable(metric="mig", data="dsprites", scores=scores)
    # Two points of transformers: the slope of the line through them.
    slope = (0.02550 - 0.02350) / np.log10(427_616_513 / 149_620_737)
    assert table.trend("transformer", "published") == pytest.approx(slope)
    steeper = table.trend("convolutional", "published")
    assert steeper == pytest.approx(0.0480, abs=5e-4)
