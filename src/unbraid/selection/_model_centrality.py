"""ModelCentrality: how well models recognize the latents of each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.foundation import check_count, numpy_generator

from ._comparable import Coded
from ._model_access import (
    ActiveCodes,
    EncoderDecoder,
    decode_codes,
    encode_images,
    read_active,
    require_methods,
)

T = TypeVar("T")

_CALLER = "model_centrality"


@dataclass(frozen=True, eq=False, kw_only=True)
class CentralityScores:
    """Scores of models on the latents of each other.

    Attributes:
        names: Names of the models, in the order given.
        scores: Mean of each model's row of ``pairs``, ``(n_models,)``.
        pairs: Symmetrized FactorVAE scores, ``(n_models, n_models)``, NaN on the
            diagonal.
        directed: Row i, column j: FactorVAE score of the encoder of model i on the
            groups of model j, ``(n_models, n_models)``, NaN on the diagonal.
        n_active: Number of active latents of each model, ``(n_models,)``.
    """

    names: tuple[str, ...]
    scores: NDArray[np.float64]
    pairs: NDArray[np.float64]
    directed: NDArray[np.float64]
    n_active: NDArray[np.int64]


def model_centrality(
    models: Sequence[EncoderDecoder] | Mapping[str, EncoderDecoder],
    representations: Sequence[Coded] | Mapping[str, Coded],
    *,
    groups_per_latent: int = 20,
    group_size: int = 25,
    kl_threshold: float = 0.01,
    seed: int = 0,
) -> CentralityScores:
    r"""ModelCentrality of each model among others.

    Every model makes a labeled dataset of its own: groups of images that its decoder
    draws from codes in which one active latent is fixed and all others vary. The label
    of a group is the latent that was fixed. :math:`A_{ij}` is the FactorVAE score of
    the encoder of model :math:`i` on the groups of model :math:`j`: how often the
    latent with the smallest relative variance in a group identifies the label. Then

    .. math::
        B_{ij} = \tfrac12 (A_{ij} + A_{ji}), \qquad
        s_i = \frac{1}{n - 1} \sum_{j \neq i} B_{ij}

    Models that disentangle recognize each other's latents; models that entangle do so
    each in its own way, and are far from all others.

    As in the paper, but: each latent is drawn from the posterior means of the data,
    independently of the others, and not from the prior; only active latents are fixed
    or voted for; which label a latent stands for is learned from one half of the groups
    and scored on the other half, both ways, with equal shares for ties. The groups of a
    model with one active latent have one label, which every encoder predicts.

    Args:
        models: Two or more trained models with ``encode`` and ``decode``, of images of
            the same shape; a mapping gives them names.
        representations: Codes of each model, in the same order or by the same names, as
            for :func:`unsupervised_disentanglement_ranking`.
        groups_per_latent: Groups for every active latent, at least 2. The paper has
            1,000 groups for 10 latents.
        group_size: Images per group, at least 2. The paper has 100. The cost is
            ``n_models**2 * n_active * groups_per_latent * group_size`` encoded images.
        kl_threshold: Nats above which a latent is active. Without log-variances, all
            latents that vary are active.
        seed: Seed of all draws.

    Returns:
        Scores from 0 to 1, higher is better; 1 for models that agree up to order and
        scale of latents, and 0 for a model without active latents.

    Raises:
        TypeError: If a model has no ``encode`` or ``decode``.
        ValueError: If there are fewer than two models, or inputs do not match.

    Example:
        >>> from unbraid.models import LinearModel
        >>> def rotation(angle):
        ...     model = LinearModel((2,), 2)
        ...     c, s = np.cos(angle), np.sin(angle)
        ...     model.decoding[:] = torch.tensor([[c, s], [-s, c]])
        ...     model.encoding[:] = model.decoding.T
        ...     return model
        >>> images = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
        >>> models = [rotation(0.0), rotation(np.pi / 2), rotation(np.pi / 4)]
        >>> codes = [images @ model.encoding.numpy() for model in models]
        >>> scores = model_centrality(models, codes)
        >>> float(scores.pairs[0, 1]), bool(scores.scores.argmin() == 2)
        (1.0, True)

    References:
        Lin, Thekumparampil, Fanti and Oh (2020), InfoGAN-CR and ModelCentrality:
        Self-supervised Model Training and Selection for Disentangling GANs, section 4.
        https://arxiv.org/abs/1906.06034
        Kim and Mnih (2018), Disentangling by Factorising, section 4, for the FactorVAE
        score. https://arxiv.org/abs/1802.05983
    """
    check_count(f"{_CALLER}: groups_per_latent", groups_per_latent, least=2)
    check_count(f"{_CALLER}: group_size", group_size, least=2)
    named = _pair_up(models, representations)
    codes = {
        name: read_active(f"{_CALLER}: {name}", coded, kl_threshold=kl_threshold)
        for name, (_, coded) in named.items()
    }
    shape = (groups_per_latent, group_size)
    directed = np.stack(
        [_score_encoders(named, codes, maker, shape, seed=seed) for maker in named],
        axis=1,
    )
    pairs = (directed + directed.T) / 2
    return CentralityScores(
        names=tuple(named),
        scores=np.nanmean(pairs, axis=1),
        pairs=pairs,
        directed=directed,
        n_active=np.array([found.n_active for found in codes.values()]),
    )


def _pair_up(
    models: Sequence[EncoderDecoder] | Mapping[str, EncoderDecoder],
    representations: Sequence[Coded] | Mapping[str, Coded],
) -> dict[str, tuple[EncoderDecoder, Coded]]:
    """Return model and codes by name."""
    named = _by_name(models)
    coded = _by_name(representations)
    if named.keys() != coded.keys():
        raise ValueError(
            f"{_CALLER} needs codes of every model, got {len(named)} models "
            f"({', '.join(named)}) and codes of {', '.join(coded)}."
        )
    if len(named) < 2:
        raise ValueError(f"{_CALLER} needs at least two models, got {len(named)}.")
    for model in named.values():
        require_methods(_CALLER, model, "encode", "decode")
    return {name: (model, coded[name]) for name, model in named.items()}


def _by_name(given: Sequence[T] | Mapping[str, T]) -> dict[str, T]:
    if isinstance(given, Mapping):
        return dict(given)
    return {f"model_{k}": value for k, value in enumerate(given)}


def _group_images(
    model: EncoderDecoder, found: ActiveCodes, shape: tuple[int, int], seed: int
) -> Iterator[torch.Tensor]:
    """Yield images of freely drawn codes, then the groups of each active latent.

    All latents are fixed in the same groups, and all models use the same random
    numbers, so that the order of models does not matter.
    """
    if not found.n_active:
        return
    codes = found.codes
    generator = numpy_generator(seed, _CALLER)
    rows = generator.integers(len(codes), size=(*shape, codes.shape[1]))
    free = np.take_along_axis(codes[None], rows, axis=1)
    fixed = codes[generator.integers(len(codes), size=shape[0])]
    yield decode_codes(_CALLER, model, free.reshape(-1, codes.shape[1]))
    for latent in found.active:
        groups = free.copy()
        groups[:, :, latent] = fixed[:, None, latent]
        yield decode_codes(_CALLER, model, groups.reshape(-1, codes.shape[1]))


def _score_encoders(
    named: Mapping[str, tuple[EncoderDecoder, Coded]],
    codes: Mapping[str, ActiveCodes],
    maker: str,
    shape: tuple[int, int],
    *,
    seed: int,
) -> NDArray[np.float64]:
    """Return the scores of all encoders on the groups of one model, NaN for its own."""
    images = _group_images(named[maker][0], codes[maker], shape, seed)
    free = next(images, None)
    if free is None:
        return np.array([np.nan if name == maker else 0.0 for name in named])
    readers = {
        name: _Reader.from_images(model, codes[name].active, free)
        for name, (model, _) in named.items()
        if name != maker
    }
    winners: dict[str, list[NDArray[np.int64]]] = {name: [] for name in readers}
    for groups in images:
        for name, reader in readers.items():
            if len(reader.usable):
                winners[name].append(reader.winners(groups, shape))
    return np.array(
        [
            np.nan
            if name == maker
            else _cross_validate(np.array(winners[name]), len(readers[name].usable))
            for name in named
        ]
    )


@dataclass(frozen=True, eq=False)
class _Reader:
    """An encoder that votes for latents.

    Attributes:
        model: Model that encodes images.
        usable: Latents that may win, ``(n_usable,)``.
        spread: Standard deviation of these latents over freely drawn images.
    """

    model: EncoderDecoder
    usable: NDArray[np.int64]
    spread: NDArray[np.float64]

    @classmethod
    def from_images(
        cls, model: EncoderDecoder, active: NDArray[np.int64], images: torch.Tensor
    ) -> "_Reader":
        spread = encode_images(_CALLER, model, images)[:, active].std(axis=0)
        return cls(model, active[spread > 0], spread[spread > 0])

    def winners(
        self, images: torch.Tensor, shape: tuple[int, int]
    ) -> NDArray[np.int64]:
        """Return the latent that varies least in each group, ``(n_groups,)``."""
        codes = encode_images(_CALLER, self.model, images)[:, self.usable] / self.spread
        return codes.reshape(*shape, -1).var(axis=1).argmin(axis=1)


def _cross_validate(winners: NDArray[np.int64], n_latents: int) -> float:
    """Return the share of groups whose label is predicted from the other half.

    Args:
        winners: Latent that varied least in each group, ``(n_labels,
            groups_per_label)``.
        n_latents: Number of latents that could win; 0 scores 0.
    """
    if not n_latents:
        return 0.0
    votes = np.stack(
        [
            np.stack([np.bincount(row, minlength=n_latents) for row in half])
            for half in np.array_split(winners, 2, axis=1)
        ]
    )  # (half, label, latent)
    # A latent stands for the label it got most votes from, or for several in a tie.
    stands_for = votes == votes.max(axis=1, keepdims=True)
    stands_for = stands_for / stands_for.sum(axis=1, keepdims=True)
    return float((votes[::-1] * stands_for).sum() / winners.size)
