"""Scores of members: on labels, by agreement, or on surrogate labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unbraid.metrics import choose_metrics, evaluate
from unbraid.representation import Representation

from ._surrogate_labels import LabelTable

MemberScore = Callable[[Sequence[Representation]], float]
"""Function from the codes of a member's models, for the same rows, to a number."""


@dataclass(frozen=True)
class MetricScore:
    """Metric on known factors, averaged over the models of a member.

    Args:
        metric: Short name of the metric, such as ``"mig"`` or ``"dci"``, with options
            after a colon if there are any.

    Example:
        >>> codes = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> known = Representation(codes, factors=codes.astype(int))
        >>> round(MetricScore("mig")([known]), 3)
        1.0
    """

    metric: str = "mig"

    def __post_init__(self) -> None:
        choose_metrics([self.metric], have_factors=True)

    def __call__(self, representations: Sequence[Representation]) -> float:
        """Return the mean over the models."""
        return float(np.mean([self._score(codes) for codes in representations]))

    def _score(self, codes: Representation) -> float:
        card = evaluate(
            codes,
            metrics=[self.metric],
            intervals=False,
            levels=False,
            n_jobs=1,
            progress=False,
        )
        for name, reason in card.failures.items():
            raise ValueError(f"{name}: {reason}")
        return float(card[next(iter(card))])


@dataclass(frozen=True)
class AgreementScore:
    """UDR of the models of a member, which needs no labels.

    Args:
        kl_threshold: KL divergence in nats above which a latent is active.

    Example:
        >>> codes = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> copies = [Representation(codes), Representation(-codes[:, ::-1])]
        >>> round(AgreementScore()(copies), 3)
        0.9
    """

    kl_threshold: float = 0.01

    def __call__(self, representations: Sequence[Representation]) -> float:
        """Return the mean UDR over the models."""
        return float(np.mean(self.each(representations)))

    def each(self, representations: Sequence[Representation]) -> list[float]:
        """Return the UDR of every model: its median agreement with the others."""
        from unbraid.selection import unsupervised_disentanglement_ranking

        udr = unsupervised_disentanglement_ranking(
            representations, kl_threshold=self.kl_threshold
        )
        return udr.scores.tolist()


@dataclass(frozen=True, eq=False)
class SurrogateScore:
    """Metric on surrogate labels: the median over several tables of labels.

    Args:
        tables: Tables of labels, each for some rows of the dataset.
        metric: Short name of the metric.
    """

    tables: tuple[LabelTable, ...]
    metric: str = "mig"

    def __call__(self, representations: Sequence[Representation]) -> float:
        """Return the median over the tables of the mean over the models."""
        score = MetricScore(self.metric)
        return float(
            np.median(
                [
                    score([table.label(codes) for codes in representations])
                    for table in self.tables
                ]
            )
        )
