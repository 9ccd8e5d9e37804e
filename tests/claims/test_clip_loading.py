"""CLIP's encoders from packages that may be missing: stand-ins in their interfaces."""

import sys
from types import ModuleType

import pytest
import torch
from torch import nn

from unbraid.data import XYSquares
from unbraid_claims import list_clip_encoders, score_encoders

MEAN = torch.tensor([0.48145466, 0.4578275, 0.40821073])
DEVIATION = torch.tensor([0.26862954, 0.26130258, 0.27577711])


class Tower(nn.Module):
    """Keeps the last images that it was given."""

    def __init__(self, image_size):
        super().__init__()
        self.projection = nn.Linear(3, 5)
        self.image_size = image_size
        self.seen = torch.empty(0)

    def forward(self, images):
        assert images.shape[1:] == (3, self.image_size, self.image_size)
        self.seen = images
        return self.projection(images.mean(dim=(2, 3)))


SIZES = {"RN50x4": 288, "RN50x16": 384}


def image_size(name):
    name = name.removesuffix("-quickgelu").removesuffix("_clip.openai")
    return SIZES.get(name.replace("resnet50", "RN50"), 224)


@pytest.fixture
def packages(monkeypatch, tmp_path):
    """Stand-ins by name; packages that are not listed cannot be imported."""
    calls = []

    def install(*names, cached=()):
        for name in ("open_clip", "timm", "transformers", "huggingface_hub"):
            monkeypatch.setitem(sys.modules, name, None)
        stand_in = {name: ModuleType(name) for name in (*names, "huggingface_hub")}

        def try_to_load_from_cache(repo_id, filename):
            path = tmp_path / filename
            path.touch()
            return str(path) if (repo_id, filename) in cached else None

        stand_in["huggingface_hub"].try_to_load_from_cache = try_to_load_from_cache
        if "open_clip" in names:

            def create_clip(model_name, pretrained=None):
                calls.append(("open_clip", model_name, pretrained))
                model = nn.Module()
                model.visual = Tower(image_size(model_name))
                return model

            stand_in["open_clip"].create_model = create_clip
        if "timm" in names:

            def create_tower(model_name, pretrained=False, pretrained_cfg_overlay=None):
                file = (pretrained_cfg_overlay or {}).get("file")
                assert pretrained == (file is not None)
                calls.append(("timm", model_name, file))
                return Tower(image_size(model_name))

            stand_in["timm"].create_model = create_tower
        for name, module in stand_in.items():
            monkeypatch.setitem(sys.modules, name, module)
        return calls

    return install


def load(name, **options):
    listed = {encoder.name: encoder for encoder in list_clip_encoders(**options)}
    return listed[name].load()


def test_images_are_resized_and_normalized(packages):
    packages("timm")
    encoder = load("RN50", pretrained=False)
    tower = encoder.network
    gray = torch.full((2, 1, 6, 6), 0.5)
    assert encoder(gray).shape == (2, 5)
    expected = ((0.5 - MEAN) / DEVIATION)[:, None, None].expand(2, 3, 224, 224)
    torch.testing.assert_close(tower.seen, expected)
    # Bicubic interpolation overshoots at edges; CLIP's images are clipped there.
    edge = torch.zeros(1, 3, 6, 6)
    edge[..., 3:] = 1.0
    encoder(edge)
    raw = tower.seen * DEVIATION[:, None, None] + MEAN[:, None, None]
    assert raw.min() >= -1e-6
    assert raw.max() <= 1 + 1e-6


def test_open_clip_builds_all_five_with_random_weights(packages):
    calls = packages("open_clip", "timm")
    for encoder in list_clip_encoders(pretrained=False):
        model = encoder.load()
        assert not model.training
        assert model(torch.rand(1, 1, 8, 8)).shape == (1, 5)
        assert encoder.published is None
    names = ["RN50", "RN50x4", "RN50x16", "ViT-B-16", "ViT-L-14"]
    assert calls == [("open_clip", f"{name}-quickgelu", None) for name in names]


def test_timm_is_used_without_open_clip(packages, tmp_path):
    weights = ("timm/resnet50x4_clip.openai", "model.safetensors")
    calls = packages("timm", cached=[weights])
    load("RN50x4")
    file = str(tmp_path / "model.safetensors")
    assert calls == [("timm", "resnet50x4_clip.openai", file)]


def test_local_weights_are_given_to_open_clip(packages, tmp_path):
    weights = ("timm/vit_base_patch16_clip_224.openai", "open_clip_pytorch_model.bin")
    calls = packages("open_clip", "timm", cached=[weights])
    load("ViT-B/16")
    file = str(tmp_path / "open_clip_pytorch_model.bin")
    assert calls == [("open_clip", "ViT-B-16-quickgelu", file)]


def test_random_weights_follow_the_seed_and_leave_the_generator_alone(packages):
    packages("open_clip")
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first, second, other = (
        load("RN50", pretrained=False, seed=seed).network.projection.weight
        for seed in (1, 1, 2)
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert torch.equal(torch.rand(2), expected)


def test_missing_weights_are_named_with_the_command_that_fetches_them(packages):
    packages("open_clip")
    with pytest.raises(FileNotFoundError, match="hf download timm/resnet50_clip"):
        load("RN50")
    with pytest.raises(ValueError, match="package must be 'open_clip', 'timm' or"):
        list_clip_encoders(package="clip")  # pyright: ignore


def test_missing_packages_are_named(packages):
    packages()
    with pytest.raises(ImportError, match="pip install open_clip_torch"):
        load("RN50")
    with pytest.raises(ImportError, match="transformers has no RN50-quickgelu"):
        load("RN50", package="transformers")
    with pytest.raises(ImportError, match="timm cannot be imported .*install timm"):
        load("ViT-L/14", package="timm")


def test_a_broken_torchvision_counts_as_missing(packages, monkeypatch):
    packages()

    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == "open_clip":
                raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.delitem(sys.modules, "open_clip")
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(ImportError, match="torchvision::nms does not exist"):
        load("RN50", package="open_clip")


def test_the_table_without_packages_says_not_measured(packages):
    packages()
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)
    table = score_encoders(list_clip_encoders(), squares)
    assert str(table).splitlines()[:8] == [
        "encoder   family         parameters  published mig  measured mig",
        "RN50      convolutional       102 M        0.00441  not measured",
        "RN50x4    convolutional       178 M        0.01763  not measured",
        "RN50x16   convolutional       291 M        0.02616  not measured",
        "ViT-B/16  transformer         150 M        0.02350  not measured",
        "ViT-L/14  transformer         428 M        0.02550  not measured",
        "",
        "Change of mig when a model has ten times as many parameters:",
    ]
    assert str(table).count("not measured") == 7


def test_random_encoders_are_scored(packages):
    packages("open_clip")
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)
    table = score_encoders(list_clip_encoders(pretrained=False), squares, n_rows=20)
    assert all(score.measured is not None for score in table.scores)
    assert table.trend("transformer", "measured") is not None


def test_transformers_builds_its_vision_transformers():
    n_weights = {}
    for name in ("ViT-B/16", "ViT-L/14"):
        with torch.device("meta"):  # shapes only
            model = load(name, pretrained=False, package="transformers")
            images = torch.empty(1, 1, 8, 8)
        n_weights[name] = sum(weight.numel() for weight in model.parameters())
        assert model(images).image_embeds.shape[0] == 1
    # The vision encoders of open_clip.
    assert n_weights == {"ViT-B/16": 86_192_640, "ViT-L/14": 303_966_208}


def test_transformers_without_local_weights(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="openai/clip-vit-large-patch14"):
        load("ViT-L/14", package="transformers")
