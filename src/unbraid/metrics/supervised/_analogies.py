"""Parallelogram analogies: a is to b as c is to what?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._score import Score

from ._parallelograms import draw_parallelograms
from ._states import States, states_of_table

_VALUES_PER_BATCH = 2**22
# Share of the largest squared norm; distances that differ by less are ties.
_TIE = 1e-10


def analogy_accuracy(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    n_analogies: int = 500,
    n_candidates: int = 5_000,
    seed: int = 0,
) -> Score:
    r"""Accuracy of analogies between states that are completed by parallelograms.

    Take four states that differ in two factors: :math:`b` differs from :math:`a` in one
    factor, :math:`c` in another one, and :math:`d` has the changes of both. If factors
    move the codes along straight lines that do not depend on the other factors, then
    the other three corners predict the fourth. It counts as found if no other state is
    nearer to the prediction.

    .. math::
        \hat z_d = z_b + z_c - z_a, \qquad
        s = P\Bigl(d = \arg\min_{x \neq a, b, c} \|z_x - \hat z_d\|\Bigr)

    The score is 1 for every code that is a sum of parts, one per factor, in any basis.
    It fails for symmetries that do not commute with translations: on a circle that
    carries the sum of two angles, no analogy is a parallelogram. Where several states
    are equally near, the answer is drawn among them.

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``. The codes of rows that
            agree in all factors are averaged.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`; at least
            two factors. Rows with a missing label are left out. A sample of a grid is
            enough if it contains parallelograms; factors without any are left out, and
            ``note`` names them.
        n_analogies: Number of analogies per pair of factors.
        n_candidates: Number of states among which the nearest is searched; all if
            there are fewer. More candidates make the task harder.
        seed: Seed of the drawing.

    Returns:
        A score from 0 to 1, higher is better: the mean over pairs of factors;
        ``per_factor`` has the mean over the pairs of each factor. ``details`` has
        ``nearest_neighbor``, the accuracy if :math:`z_b` or :math:`z_c` is taken for
        the prediction, which analogies should beat; ``error``, the mean of
        :math:`\|\hat z_d - z_d\|^2` over twice that of :math:`\|z_d - z_a\|^2`, which
        is 0 for a sum of parts and 1 for noise; ``candidates``; and ``n_test``, the
        number of analogies.

    Raises:
        ValueError: If no four states form a parallelogram.

    Example:
        >>> factors = np.array([[a, b] for a in range(5) for b in range(5)])
        >>> warped = np.exp(0.3 * factors) @ np.array([[0.8, 0.6], [-0.6, 0.8]])
        >>> score = analogy_accuracy(warped, factors)
        >>> float(score), round(score.details["error"], 9)
        (1.0, 0.0)
        >>> angle = factors.sum(axis=1) * 2 * np.pi / 5
        >>> shared = np.column_stack([np.cos(angle), np.sin(angle)])
        >>> analogy_accuracy(shared, factors) < 0.1
        True

    References:
        Rumelhart and Abrahamson (1973), A Model for Analogical Reasoning, Cognitive
        Psychology 5.
        Mikolov, Yih and Zweig (2013), Linguistic Regularities in Continuous Space Word
        Representations, NAACL, leave a, b and c out of the candidates.
        Linzen (2016), Issues in Evaluating Semantic Spaces Using Word Analogies, on the
        nearest neighbor as a baseline. https://arxiv.org/abs/1606.07736
    """
    caller = "analogy_accuracy"
    codes, factors = read_inputs(caller, codes, factors)
    check_count(f"{caller}: n_analogies", n_analogies)
    check_count(f"{caller}: n_candidates", n_candidates)
    search = _Search.among(states_of_table(codes, factors), n_candidates, seed)
    results = {
        drawn.names: search.judge(drawn.corners)
        for drawn in draw_parallelograms(search.states.factors, n_analogies, seed)
    }
    if not results:
        raise ValueError(
            f"{caller} needs four states that differ in two factors only, but there "
            f"are none among {len(search.states.codes)} states with all labels. "
            "Score the complete grid, or more rows of it."
        )
    per_factor = {
        name: float(
            np.mean([r.accuracy for pair, r in results.items() if name in pair])
        )
        for name in factors.names
        if any(name in pair for pair in results)
    }
    left_out = [name for name in factors.names if name not in per_factor]
    found = list(results.values())
    apart = sum(result.apart for result in found)
    return Score(
        float(np.mean([result.accuracy for result in found])),
        name="analogies",
        per_factor=per_factor,
        factors_used=(len(per_factor), factors.n_factors),
        details={
            "nearest_neighbor": float(np.mean([result.baseline for result in found])),
            "error": sum(result.missed for result in found) / (2 * apart)
            if apart
            else 1.0,
            "candidates": len(search.candidates),
            "n_test": sum(result.n for result in found),
        },
        seed=seed,
        note=f"left out, no analogies: {', '.join(map(repr, left_out))}"
        if left_out
        else "",
    )


@dataclass(frozen=True, kw_only=True)
class _Result:
    """Accuracies of a few analogies, and sums of squared distances."""

    accuracy: float
    baseline: float
    missed: float
    apart: float
    n: int


@dataclass(frozen=True, kw_only=True)
class _Search:
    """States, and the candidates among which a nearest neighbor is searched."""

    states: States
    codes: NDArray[np.float64]
    candidates: NDArray[np.int64]
    index: NDArray[np.int64]

    @classmethod
    def among(cls, states: States, n_candidates: int, seed: int) -> "_Search":
        n_states = len(states.codes)
        candidates = np.arange(n_states)
        if n_states > n_candidates:
            generator = numpy_generator(seed, "candidates")
            candidates = generator.choice(n_states, n_candidates, replace=False)
        index = np.full(n_states, -1)
        index[candidates] = np.arange(len(candidates))
        codes = states.codes
        if n_states:
            codes = codes - codes.mean(axis=0)
            codes = codes / (np.abs(codes).max() or 1.0)  # squares must not overflow
        return cls(states=states, codes=codes, candidates=candidates, index=index)

    def judge(self, corners: NDArray[np.int64]) -> _Result:
        """Complete the analogies of some parallelograms, ``(4, n)``."""
        a, b, c, d = self.codes[corners]
        baseline = [self._share_found(guess, corners) for guess in (b, c)]
        return _Result(
            accuracy=self._share_found(b + c - a, corners),
            baseline=float(np.mean(baseline)),
            missed=float(((b + c - a - d) ** 2).sum()),
            apart=float(((d - a) ** 2).sum()),
            n=corners.shape[1],
        )

    def _share_found(
        self, guesses: NDArray[np.float64], corners: NDArray[np.int64]
    ) -> float:
        """Return the share of guesses whose nearest neighbor is the fourth corner."""
        candidates = self.codes[self.candidates]
        norms = np.einsum("ij,ij->i", candidates, candidates)
        tie = _TIE * (norms.max() + np.einsum("ij,ij->i", guesses, guesses).max())
        step = max(1, _VALUES_PER_BATCH // len(candidates))
        found = 0.0
        for start in range(0, len(guesses), step):
            guess, part = (
                guesses[start : start + step],
                corners[:, start : start + step],
            )
            answers = self.codes[part[3]]
            # Squared distances, without the squared norm of the guess in all of them.
            apart = norms - 2.0 * guess @ candidates.T
            answer = np.einsum("ij,ij->i", answers, answers - 2.0 * guess)
            for corner in part:
                index = self.index[corner]
                known = np.flatnonzero(index >= 0)
                apart[known, index[known]] = np.inf
            is_nearest = (apart >= answer[:, None] - tie).all(axis=1)
            n_tied = 1 + (apart <= answer[:, None] + tie).sum(axis=1)
            found += float((is_nearest / n_tied).sum())
        return found / len(guesses)
