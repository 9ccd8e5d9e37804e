"""JEMMIG: whether each factor is one latent, and that latent nothing else."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_count
from unbraid.metrics._information import (
    bin_codes,
    entropy,
    factor_entropies,
    mutual_information_matrix,
)
from unbraid.metrics._inputs import BINS, Factors, read_inputs, require_two_latents
from unbraid.metrics._score import Score


def joint_entropy_minus_mutual_information_gap(
    codes: ArrayLike, factors: ArrayLike | Factors, *, bins: int = BINS
) -> Score:
    r"""Joint entropy minus mutual information gap (JEMMIG), scaled so that 1 is best.

    MIG does not penalize latents that encode other factors, too. JEMMIG adds the joint
    entropy of a factor and its best latent, which is smallest if the latent encodes
    only this factor. Here it is divided by its largest possible value and subtracted
    from one.

    .. math::
        \frac{1}{K} \sum_{k} \Bigl( 1 - \frac{H(v_k, z_{j(k)}) - I(z_{j(k)}; v_k)
        + \max_{j \neq j(k)} I(z_j; v_k)}{H(v_k) + \log B} \Bigr)

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``, at least two latents.
            Binned here. A constant latent has no information; a copy of another latent
            lowers the score.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Continuous factors are binned; for each factor, rows where it is missing
            are left out.
        bins: Equal-width bins :math:`B` per latent. Scores depend on it: report it.
            A factor with more values than bins cannot reach 1.

    Returns:
        A score from 0 to 1, higher is better. ``per_factor`` has the terms of the sum,
        ``matrix`` the mutual information in nats, ``(n_latents, n_factors)``,
        ``details`` the mean of the unscaled quantity, in nats, lower is better.

    Raises:
        ValueError: If there is one latent only, or the input is not as above.

    Example:
        >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> one_latent_each = factors.astype(float)
        >>> joint_entropy_minus_mutual_information_gap(one_latent_each, factors)
        1.0

    References:
        Do and Tran (2020), Theory and Evaluation Metrics for Learning Disentangled
        Representations, metrics for interpretability. https://arxiv.org/abs/1908.09961
        Its score is the unscaled quantity; the scaled one is from Carbonneau et al.
        (2022), Measuring Disentanglement: A Review of Metrics.
    """
    caller = "joint_entropy_minus_mutual_information_gap"
    codes, factors = read_inputs(caller, codes, factors)
    check_count(f"{caller}: bins", bins)
    require_two_latents(caller, codes)
    binned = bin_codes(codes, bins)
    information = mutual_information_matrix(binned, factors)
    best = np.sort(information, axis=0)
    alone = factor_entropies(factors)
    held = [
        # Of latents with the same information, the one with the smallest entropy.
        min(
            entropy(binned[factors.known[:, k], j])
            for j in np.flatnonzero(information[:, k] > best[-1, k] - 1e-12)
        )
        for k in range(factors.n_factors)
    ]
    joint = alone + held - best[-1]
    unscaled = joint - best[-1] + best[-2]
    scores = 1.0 - unscaled / (alone + np.log(bins))
    return Score(
        scores.mean(),
        name="jemmig",
        per_factor=dict(zip(factors.names, scores, strict=True)),
        matrix=information,
        details={"unscaled": unscaled.mean()},
    )
