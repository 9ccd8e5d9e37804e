"""measure_evidence: label-free evidence from codes and decoders."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unbraid.foundation import check_count

from ._chance import chance_agreement
from ._comparable import Coded
from ._evidence import Evidence, Floats
from ._jacobian_contrast import jacobian_contrast
from ._model_access import Decoder
from ._udr import unsupervised_disentanglement_ranking

_PROBABILITY = 0.05
"""Probability that a model without meaningful axes is chosen."""

_LEAST_ROTATIONS = 100


def measure_evidence(
    names: Sequence[str],
    configurations: Sequence[str],
    codes: Sequence[Coded],
    *,
    decoders: Sequence[Decoder | None] | None = None,
    n_tried: int | None = None,
    cache: str | Path | None = None,
    seed: int = 0,
) -> Evidence:
    """Measure on codes and decoders what :func:`rank_models` needs.

    Args:
        names: Names of the models, all different.
        configurations: Configuration of each model; its seeds share it.
        codes: Codes of the same observations, one representation per model.
        decoders: Trained models with ``decode``, ``None`` for those without a decoder.
        n_tried: Number of configurations of which these were chosen by their agreement,
            such as those of the first round of a race; by default only these. The best
            of many agrees more by chance, so that the level of chance is higher.
        cache: File that keeps the agreement of pairs of models, see
            :func:`unsupervised_disentanglement_ranking`.
        seed: Seed of the rotations and of the points at which decoders are compared.

    Returns:
        Agreement by Spearman correlation, within and across configurations, its level
        of chance, active latents and, with decoders, the Jacobian contrast. Add what
        else is known with :func:`dataclasses.replace`, such as the ELBO.

    Raises:
        ValueError: If numbers of names, configurations, codes and decoders differ, or
            if names are repeated.

    Example:
        >>> from unbraid.selection import rank_models
        >>> codes = np.random.default_rng(0).normal(size=(500, 3))
        >>> evidence = measure_evidence(("a0", "a1"), ("a", "a"), [codes, -codes])
        >>> rank_models(evidence).chosen
        'a0'
    """
    if n_tried is not None:
        check_count("measure_evidence: n_tried", n_tried, least=1)
    if decoders is not None and len(decoders) != len(codes):
        raise ValueError(
            f"measure_evidence: decoders must have one entry for each of {len(codes)} "
            f"models, got {len(decoders)}. Use None for a model without a decoder."
        )
    agreement = unsupervised_disentanglement_ranking(
        codes, similarity="spearman", groups=configurations, cache=cache
    )
    n_present, across = len(set(configurations)), None
    if n_present > 1:
        across = unsupervised_disentanglement_ranking(
            codes,
            similarity="spearman",
            groups=configurations,
            partners="other",
        ).scores
    probability = _PROBABILITY * n_present / max(n_tried or 0, n_present)
    chance = chance_agreement(
        codes,
        configurations,
        similarity="spearman",
        n_rotations=max(_LEAST_ROTATIONS, math.ceil(2 / probability)),
        probability=probability,
        seed=seed,
    )
    return Evidence(
        names=tuple(names),
        specifications=tuple(configurations),
        udr_pairs=agreement.pairs,
        active_latents=agreement.n_active,
        chance={name: each.level for name, each in chance.items()},
        chance_mean={name: each.mean for name, each in chance.items()},
        across=across,
        contrast=None if decoders is None else _contrasts(decoders, codes, seed),
    )


def _contrasts(
    decoders: Sequence[Decoder | None], codes: Sequence[Coded], seed: int
) -> Floats:
    return np.array(
        [
            np.nan if decoder is None else jacobian_contrast(decoder, own, seed=seed)
            for decoder, own in zip(decoders, codes, strict=True)
        ],
        dtype=np.float64,
    )
