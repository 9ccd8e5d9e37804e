"""The vision encoders of CLIP whose MIG was published."""

from functools import partial

from unbraid.foundation import check_option

from ._clip_loading import Architecture, Package, TransformerShape, load_clip
from ._encoder_table import Family, FrozenEncoder

# Name, family, parameters of the whole model with its text encoder, MIG on dSprites.
_PUBLISHED: tuple[tuple[str, Family, int, float, Architecture], ...] = (
    (
        "RN50",
        "convolutional",
        102_007_137,
        0.00441,
        Architecture(
            open_clip="RN50-quickgelu",
            timm="resnet50_clip.openai",
            repository="timm/resnet50_clip.openai",
            image_size=224,
        ),
    ),
    (
        "RN50x4",
        "convolutional",
        178_300_601,
        0.01763,
        Architecture(
            open_clip="RN50x4-quickgelu",
            timm="resnet50x4_clip.openai",
            repository="timm/resnet50x4_clip.openai",
            image_size=288,
        ),
    ),
    (
        "RN50x16",
        "convolutional",
        290_979_217,
        0.02616,
        Architecture(
            open_clip="RN50x16-quickgelu",
            timm="resnet50x16_clip.openai",
            repository="timm/resnet50x16_clip.openai",
            image_size=384,
        ),
    ),
    (
        "ViT-B/16",
        "transformer",
        149_620_737,
        0.02350,
        Architecture(
            open_clip="ViT-B-16-quickgelu",
            timm="vit_base_patch16_clip_quickgelu_224.openai",
            repository="timm/vit_base_patch16_clip_224.openai",
            image_size=224,
            transformers="openai/clip-vit-base-patch16",
            shape=TransformerShape(768, 12, 12, 16, 512),
        ),
    ),
    (
        "ViT-L/14",
        "transformer",
        427_616_513,
        0.02550,
        Architecture(
            open_clip="ViT-L-14-quickgelu",
            timm="vit_large_patch14_clip_quickgelu_224.openai",
            repository="timm/vit_large_patch14_clip_224.openai",
            image_size=224,
            transformers="openai/clip-vit-large-patch14",
            shape=TransformerShape(1024, 24, 16, 14, 768),
        ),
    ),
)


def list_clip_encoders(
    *, pretrained: bool = True, package: Package | None = None, seed: int = 0
) -> tuple[FrozenEncoder, ...]:
    """The five vision encoders of CLIP whose MIG on dSprites was published.

    The models are built by open_clip, timm or, for the transformers,
    transformers. Weights are read from the local cache of the Hugging Face hub and
    never downloaded; ``hf download REPOSITORY`` fetches them.

    Args:
        pretrained: Whether to load the published weights. If not, weights are random
            and no published score is shown next to them.
        package: Package that builds the models. By default the first of ``open_clip``,
            ``timm`` and ``transformers`` that is installed and has the weights.
        seed: Seed of random weights.

    Example:
        >>> [encoder.name for encoder in list_clip_encoders()]
        ['RN50', 'RN50x4', 'RN50x16', 'ViT-B/16', 'ViT-L/14']

    References:
        Radford et al. (2021), Learning Transferable Visual Models From Natural Language
        Supervision. https://arxiv.org/abs/2103.00020
        Ottlik, Ram and Liss (2022), Unsupervised Disentanglement Literature Review and
        Exploration with Scale, Table 1.
    """
    if package is not None:
        check_option("package", package, Package)
    return tuple(
        FrozenEncoder(
            name=name,
            family=family,
            n_parameters=n_parameters,
            published=mig if pretrained else None,
            load=partial(
                load_clip,
                architecture,
                pretrained=pretrained,
                package=package,
                seed=seed,
            ),
        )
        for name, family, n_parameters, mig, architecture in _PUBLISHED
    )
