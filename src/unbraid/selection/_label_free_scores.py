"""Catalog of label-free scores, and a function that computes them by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import suggest
from unbraid.metrics import (
    active_units,
    evidence_lower_bound,
    gaussian_total_correlation,
)

from . import _run_scores as by_run
from ._jacobian_contrast import jacobian_contrast
from ._model_centrality import model_centrality
from ._pipe import pipe_score
from ._run_scores import ScoredRun
from ._self_mig import self_mig
from ._standardized_agreement import standardized_agreement
from ._training_dynamics import training_dynamics
from ._udr import unsupervised_disentanglement_ranking

Need = Literal["codes", "log_variances", "reconstruction", "model", "traces", "runs"]


@dataclass(frozen=True, kw_only=True)
class LabelFreeScore:
    """A score of models without labels, and its properties.

    Attributes:
        function: Public function that computes it, with its formula and options.
        needs: Inputs of the score. ``"runs"`` means several runs, of the same
            configuration, or of others for ``udr_across``.
        higher_is_better: Direction of the score.
        reference: Publication of the score.
        seconds: Processor time of one core for 30 models (10 configurations with 3
            seeds) with 10 active latents on 2,000 rows, images of 16x16 pixels in
            color, and dense networks.
        compute: Function of a sequence of :class:`ScoredRun` and a seed that returns
            scores ``(n_runs,)``, with NaN for runs without a score.
    """

    function: Callable[..., Any]
    needs: tuple[Need, ...]
    higher_is_better: bool
    reference: str
    seconds: float
    compute: Callable[[Sequence[ScoredRun], int], NDArray[np.float64]]


SCORES: Mapping[str, LabelFreeScore] = MappingProxyType(
    {
        "udr_lasso": LabelFreeScore(
            function=unsupervised_disentanglement_ranking,
            needs=("codes", "runs"),
            higher_is_better=True,
            reference="Duan et al. (2020), section 4",
            seconds=0.1,
            compute=partial(by_run.agreement, similarity="lasso"),
        ),
        "udr_spearman": LabelFreeScore(
            function=unsupervised_disentanglement_ranking,
            needs=("codes", "runs"),
            higher_is_better=True,
            reference="Duan et al. (2020), section 4",
            seconds=0.1,
            compute=partial(by_run.agreement, similarity="spearman"),
        ),
        "udr_across": LabelFreeScore(
            function=unsupervised_disentanglement_ranking,
            needs=("codes", "runs"),
            higher_is_better=True,
            reference="UDR of Duan et al. (2020) with partners='other'; ours",
            seconds=0.1,
            compute=partial(by_run.agreement, similarity="spearman", partners="other"),
        ),
        "standardized_agreement": LabelFreeScore(
            function=standardized_agreement,
            needs=("codes", "runs"),
            higher_is_better=True,
            reference="UDR of Duan et al. (2020), standardized; ours",
            seconds=5.0,
            compute=by_run.agreement_above_chance,
        ),
        "model_centrality": LabelFreeScore(
            function=model_centrality,
            needs=("codes", "model", "runs"),
            higher_is_better=True,
            reference="Lin et al. (2020), section 4",
            seconds=31.0,
            compute=by_run.centrality,
        ),
        "dynamics": LabelFreeScore(
            function=training_dynamics,
            needs=("codes", "traces", "runs"),
            higher_is_better=False,
            reference="Holtz et al. (2022), section 3.3",
            seconds=0.4,
            compute=by_run.dynamics,
        ),
        "pipe": LabelFreeScore(
            function=pipe_score,
            needs=("codes", "model"),
            higher_is_better=True,
            reference="Estermann and Wattenhofer (2023)",
            seconds=18.0,
            compute=by_run.pipe,
        ),
        "self_mig": LabelFreeScore(
            function=self_mig,
            needs=("codes",),
            higher_is_better=True,
            reference="Chen et al. (2018), Eq. 6, with latents as factors",
            seconds=0.2,
            compute=by_run.own_information_gap,
        ),
        "jacobian_contrast": LabelFreeScore(
            function=jacobian_contrast,
            needs=("codes", "model"),
            higher_is_better=False,
            reference="Gresele et al. (2021), section 4",
            seconds=1.1,
            compute=by_run.contrast,
        ),
        "elbo": LabelFreeScore(
            function=evidence_lower_bound,
            needs=("codes", "log_variances", "reconstruction"),
            higher_is_better=True,
            reference="Kingma and Welling (2014), Eq. 3",
            seconds=0.02,
            compute=by_run.elbo,
        ),
        "total_correlation": LabelFreeScore(
            function=gaussian_total_correlation,
            needs=("codes",),
            higher_is_better=False,
            reference="Watanabe (1960)",
            seconds=0.02,
            compute=by_run.total_correlation,
        ),
        "active_latents": LabelFreeScore(
            function=active_units,
            needs=("codes",),
            higher_is_better=True,
            reference="Burda et al. (2016)",
            seconds=0.02,
            compute=by_run.active_latents,
        ),
    }
)
"""Every label-free score by its name."""


def label_free_scores(
    runs: Sequence[ScoredRun],
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
) -> dict[str, NDArray[np.float64]]:
    """Compute label-free scores of several runs by name.

    Args:
        runs: Trained runs, encoded on the same rows.
        names: Names of scores, see ``SCORES``. By default all scores for which every
            run has the inputs.
        seed: Seed of scores that draw at random.

    Returns:
        Scores by name, ``(n_runs,)`` each. Runs without a score, such as one without
        another seed of its configuration for UDR, have NaN.

    Raises:
        ValueError: If a name is not known, or an input of a score is missing.

    Example:
        >>> codes = np.random.default_rng(0).normal(size=(500, 3))
        >>> runs = [
        ...     ScoredRun(name="a", configuration="beta 4", codes=codes),
        ...     ScoredRun(name="b", configuration="beta 4", codes=-codes),
        ... ]
        >>> scores = label_free_scores(runs, ["udr_spearman", "active_latents"])
        >>> scores["active_latents"]
        array([3., 3.])
        >>> bool((scores["udr_spearman"] > 0.9).all())
        True
    """
    if names is None:
        names = [
            name
            for name, score in SCORES.items()
            if not by_run.list_missing(runs, score.needs)
        ]
    for name in names:
        if name not in SCORES:
            raise ValueError(
                f"There is no label-free score {name!r}.{suggest(name, SCORES)} "
                f"Scores are {', '.join(SCORES)}."
            )
        lacking = by_run.list_missing(runs, SCORES[name].needs)
        if lacking:
            raise ValueError(f"The score {name!r} needs {lacking} of every run.")
    return {name: SCORES[name].compute(runs, seed) for name in names}
