import json
import re

import numpy as np
import pytest
import torch
from torch import nn

from unbraid.data import LabeledImages, XYObject, XYSquares
from unbraid.models import Autoencoder, Bernoulli, LinearModel
from unbraid.models.networks import Dense, DisentanglementLibConvolutional
from unbraid.reports import match_latents, read_latent_names, write_explorer

HOSTILE = "</script><!--\"'&\u2028\u2029\u202e🎉"


def build(network, shape=(1, 8, 8), *, n_latents=4, seed=0):
    torch.manual_seed(seed)
    return Autoencoder(
        network.encoder(shape, 2 * n_latents),
        network.decoder(shape, n_latents),
        likelihood=Bernoulli(),
        image_shape=shape,
        n_latents=n_latents,
    )


@pytest.fixture(scope="module")
def images():
    values = np.random.default_rng(0).integers(0, 256, (50, 1, 8, 8), dtype=np.uint8)
    return LabeledImages(values)


def content(page):
    """What is embedded, as a browser reads it."""
    text = page.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)<', text)
    return json.loads(data)


def test_latents_come_in_the_order_of_what_they_say(images, tmp_path):
    model = build(Dense())
    with torch.no_grad():
        model.encoder[-1].weight[[0, 1, 2, 3]] *= torch.tensor([1.0, 9.0, 3.0, 0.0])[
            :, None
        ]
        model.encoder[-1].weight[4:] = 0.0
    page = write_explorer(model, images, tmp_path / "explorer.html", names={1: "size"})
    latents = content(page)["models"][0]["latents"]
    assert [latent["number"] for latent in latents] == [1, 2, 0, 3]
    assert [latent["is_active"] for latent in latents][-1] is False
    assert [latent["name"] for latent in latents] == ["size", "", "", ""]
    with torch.no_grad():
        seen = torch.from_numpy(images.images(np.arange(50)))
        expected = model.encode(seen).kl_to_prior().mean(dim=0)
    np.testing.assert_allclose(
        [latent["activity"] for latent in latents], expected[[1, 2, 0, 3]], rtol=1e-5
    )


def test_a_model_without_uncertainty_moves_within_its_codes(images, tmp_path):
    torch.manual_seed(0)
    model = LinearModel((1, 8, 8), 2)
    for buffer in model.buffers():
        torch.nn.init.normal_(buffer)
    page = write_explorer(model, images, tmp_path / "explorer.html")
    codes = model.encode(torch.from_numpy(images.images(np.arange(50)))).mean.numpy()
    for latent in content(page)["models"][0]["latents"]:
        column = codes[:, latent["number"]]
        assert latent["center"] == pytest.approx(column.mean(), rel=1e-4)
        assert latent["spread"] == pytest.approx(column.std(), rel=1e-4)
        assert latent["activity"] == pytest.approx(column.var(), rel=1e-4)


def test_nothing_that_users_chose_can_end_a_tag(images, tmp_path):
    page = write_explorer(
        build(Dense()),
        images,
        tmp_path / "explorer.html",
        names={0: HOSTILE},
        model_names=[HOSTILE],
    )
    text = page.read_text(encoding="utf-8")
    assert text.count("</script>") == 2
    assert "\u2028" not in text
    assert "\u202e" not in text
    found = content(page)
    assert found["models"][0]["name"] == HOSTILE
    assert HOSTILE in [latent["name"] for latent in found["models"][0]["latents"]]


def test_the_page_allows_no_source_but_itself(images, tmp_path):
    page = write_explorer(build(Dense()), images, tmp_path / "explorer.html")
    text = page.read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"(src|href)=\"", text)
    assert "http:" not in text
    assert "https:" not in text


def test_the_page_of_the_standard_network_is_below_five_megabytes(tmp_path):
    model = build(DisentanglementLibConvolutional(), (3, 64, 64), n_latents=10)
    page = write_explorer(model, XYObject(), tmp_path / "explorer.html")
    assert page.stat().st_size < 5_000_000


def test_examples_are_images_of_the_data_with_their_factors(tmp_path):
    squares = XYSquares(n_squares=1, image_size=8, square_size=1)
    model = build(Dense(), (3, 8, 8))
    page = write_explorer(model, squares, tmp_path / "explorer.html", n_examples=5)
    examples = content(page)["examples"]
    assert len(examples) == 5
    row = int(re.match(r"image (\d+), x_R", examples[0]["label"])[1])
    assert 0 <= row < len(squares)


def test_the_same_call_writes_the_same_bytes(images, tmp_path):
    model = build(Dense())
    pages = [write_explorer(model, images, tmp_path / f"{i}.html") for i in (1, 2)]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    other = write_explorer(model, images, tmp_path / "3.html", seed=1)
    assert other.read_bytes() != pages[0].read_bytes()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"names": {4: "no"}}, r"keys from 0 to 3 only, got 4"),
        ({"names": {"x": "no"}}, r"keys from 0 to 3 only, got 'x'"),
        ({"names": {0: 3}}, r"name of latent 0 must be a string .*, got 3"),
        ({"model_names": ["a", "b"]}, r"model_names must have 1 elements, .* got 2"),
        ({"n_examples": 0}, r"at least one image to start from, got n_examples=0"),
        (
            {"other": build(Dense(), (3, 8, 8))},
            r"takes images of shape \(3, 8, 8\)",
        ),
        ({"other": build(Dense(), (2, 8, 8))}, r"1 or 3 channels"),
    ],
)
def test_what_cannot_be_shown_is_refused(images, tmp_path, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        write_explorer(build(Dense()), images, tmp_path / "explorer.html", **options)
    assert not list(tmp_path.iterdir())


def test_networks_with_other_layers_are_refused_by_name(images, tmp_path):
    model = build(Dense())
    model.decoder.insert(1, nn.LayerNorm(256))
    with pytest.raises(ValueError, match="LayerNorm.* in the decoder"):
        write_explorer(model, images, tmp_path / "explorer.html")


@pytest.mark.parametrize(
    ("part", "sentence"), [("encoder", "finite codes"), ("decoder", "finite weights")]
)
def test_broken_models_are_refused(images, tmp_path, part, sentence):
    model = build(Dense())
    with torch.no_grad():
        next(getattr(model, part).parameters())[0] = torch.nan
    with pytest.raises(ValueError, match=sentence):
        write_explorer(model, images, tmp_path / "explorer.html")


def test_matching_undoes_order_and_sign():
    codes = np.random.default_rng(0).normal(size=(200, 5))
    order, signs = [3, 1, 4, 0, 2], np.array([1, -1, -1, 1, 1])
    matches = match_latents(codes, codes[:, order] * signs)
    assert [order[match.other] for match in matches] == [0, 1, 2, 3, 4]
    assert [match.sign for match in matches] == [signs[m.other] for m in matches]
    assert all(abs(match.correlation) > 0.999 for match in matches)


def test_matching_allows_for_other_numbers_of_latents_and_dead_ones():
    codes = np.random.default_rng(0).normal(size=(200, 3))
    wide = np.concatenate([np.zeros((200, 2)), codes], axis=1)
    assert [m.other for m in match_latents(codes, wide)] == [2, 3, 4]
    assert [m.latent for m in match_latents(wide, codes)] == [2, 3, 4]
    assert match_latents(wide, np.zeros((200, 1)))[0].correlation == 0.0
    with pytest.raises(ValueError, match="same number of images"):
        match_latents(codes, wide[:10])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "not valid JSON"),
        ("[]", "does not hold names of latents"),
        ('{"names": {}}', "does not hold names of latents"),
        ('{"kind": "names of latents", "format": 2}', "format 1, got 2"),
        ('{"kind": "names of latents", "format": 1, "names": 3}', "got 3"),
        ('{"kind": "names of latents", "format": 1, "names": {"-1": ""}}', "'-1'"),
    ],
)
def test_files_that_hold_no_names_are_refused(tmp_path, text, sentence):
    path = tmp_path / "names.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=sentence) as caught:
        read_latent_names(path)
    assert str(caught.value).startswith(str(path))
