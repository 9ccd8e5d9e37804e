"""Vision encoders of CLIP from open_clip, timm or transformers."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import nn

Package = Literal["open_clip", "timm", "transformers"]
PACKAGES: tuple[Package, ...] = get_args(Package)

_MEAN = (0.48145466, 0.4578275, 0.40821073)
_DEVIATION = (0.26862954, 0.26130258, 0.27577711)


class TransformerShape(NamedTuple):
    """Dimensions of a vision transformer, as transformers needs them."""

    width: int
    n_layers: int
    n_heads: int
    patch_size: int
    n_outputs: int


class Architecture(NamedTuple):
    """Names of one CLIP model in the three packages.

    Attributes:
        open_clip: Name of the model in open_clip.
        timm: Name of the vision encoder in timm.
        repository: Repository of the weights for open_clip and timm on the Hugging Face
            hub.
        image_size: Height and width of the images that the model takes.
        transformers: Repository of the weights for transformers, which has no
            convolutional CLIP.
        shape: Dimensions of a transformer.
    """

    open_clip: str
    timm: str
    repository: str
    image_size: int
    transformers: str | None = None
    shape: TransformerShape | None = None


class ClipVision(nn.Module):
    """A vision encoder of CLIP that takes images of any size in [0, 1].

    Args:
        network: Maps normalized images to embeddings.
        image_size: Height and width of the images that the network takes.
    """

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self, network: nn.Module, image_size: int) -> None:
        super().__init__()
        self.network = network
        self.image_size = image_size
        self.mean: torch.Tensor
        self.deviation: torch.Tensor
        for name, values in (("mean", _MEAN), ("deviation", _DEVIATION)):
            self.register_buffer(name, torch.tensor(values)[:, None, None])

    def forward(self, images: torch.Tensor) -> Any:
        """Embeddings of images with one or three channels."""
        resized = nn.functional.interpolate(
            images.expand(-1, 3, -1, -1),
            (self.image_size, self.image_size),
            mode="bicubic",
            antialias=True,
        ).clamp(0.0, 1.0)
        return self.network((resized - self.mean) / self.deviation)


def load_clip(
    architecture: Architecture,
    *,
    pretrained: bool = True,
    package: Package | None = None,
    seed: int = 0,
) -> ClipVision:
    """Load a vision encoder of CLIP.

    Nothing is downloaded: the weights are read from the local cache of the Hugging Face
    hub.

    Args:
        architecture: Model to load.
        pretrained: Whether to load the published weights, or to draw random ones.
        package: Package that builds the model. By default the first of ``open_clip``,
            ``timm`` and ``transformers`` that is installed and has the weights.
        seed: Seed of random weights.

    Raises:
        ImportError: If no package is installed that can build the model.
        FileNotFoundError: If the weights are not in the local cache.
    """
    errors: list[ImportError | FileNotFoundError] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for name in PACKAGES if package is None else (package,):
            try:
                network = _LOADERS[name](architecture, pretrained)
            except (ImportError, FileNotFoundError) as error:
                errors.append(error)
            else:
                return ClipVision(network, architecture.image_size).eval()
    # A package without the weights says more than a package that is not installed.
    raise next((e for e in errors if isinstance(e, FileNotFoundError)), errors[0])


def _from_open_clip(architecture: Architecture, pretrained: bool) -> nn.Module:
    open_clip = _import("open_clip", "open_clip_torch")
    files = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
    weights = _cached(architecture.repository, files) if pretrained else None
    return open_clip.create_model(architecture.open_clip, pretrained=weights).visual


def _from_timm(architecture: Architecture, pretrained: bool) -> nn.Module:
    timm = _import("timm", "timm")
    if not pretrained:
        return timm.create_model(architecture.timm)
    weights = _cached(
        architecture.repository, ("model.safetensors", "pytorch_model.bin")
    )
    return timm.create_model(
        architecture.timm, pretrained=True, pretrained_cfg_overlay={"file": weights}
    )


def _from_transformers(architecture: Architecture, pretrained: bool) -> nn.Module:
    name, shape = architecture.transformers, architecture.shape
    if name is None or shape is None:
        raise ImportError(
            f"transformers has no {architecture.open_clip}. Run: pip install "
            "open_clip_torch"
        )
    transformers = _import("transformers", "transformers")
    kind = transformers.CLIPVisionModelWithProjection
    if not pretrained:
        return kind(
            transformers.CLIPVisionConfig(
                hidden_size=shape.width,
                intermediate_size=4 * shape.width,
                num_hidden_layers=shape.n_layers,
                num_attention_heads=shape.n_heads,
                patch_size=shape.patch_size,
                projection_dim=shape.n_outputs,
                image_size=architecture.image_size,
            )
        )
    try:
        return kind.from_pretrained(name, local_files_only=True)
    except OSError:
        raise _no_weights(name) from None


_LOADERS: dict[Package, Callable[[Architecture, bool], nn.Module]] = {
    "open_clip": _from_open_clip,
    "timm": _from_timm,
    "transformers": _from_transformers,
}


def _import(module: str, distribution: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module} cannot be imported ({error}). Run: pip install {distribution}"
        ) from error
    except RuntimeError as error:  # torchvision that was built for another torch
        raise ImportError(f"{module} cannot be imported ({error}).") from error


def _cached(repository: str, files: tuple[str, ...]) -> str:
    """Path of the first of several files in the local cache of the hub."""
    find = _import("huggingface_hub", "huggingface_hub").try_to_load_from_cache
    for file in files:
        path = find(repository, file)
        if isinstance(path, str) and Path(path).is_file():
            return path
    raise _no_weights(repository)


def _no_weights(repository: str) -> FileNotFoundError:
    return FileNotFoundError(
        f"The weights of {repository} are not in the local cache. Run: hf download "
        f"{repository}"
    )
