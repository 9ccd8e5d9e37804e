"""What members of a population are worth: with labels, without, or by found labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unbraid.metrics import choose_metrics, evaluate
from unbraid.representation import Representation
from unbraid.selection import unsupervised_disentanglement_ranking

from ._surrogate_labels import LabelTable

MemberScore = Callable[[Sequence[Representation]], float]
"""From the codes of a member's models, all of the same rows, to a number."""


@dataclass(frozen=True)
class MetricScore:
    """A metric on known factors, averaged over a member's models.

    Args:
        metric: Short name, such as ``"mig"`` or ``"dci"``.

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
        """Mean over the models."""
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
        if self.metric in card.failures:
            raise ValueError(f"{self.metric}: {card.failures[self.metric]}")
        return float(card[next(iter(card))])


@dataclass(frozen=True)
class AgreementScore:
    """UDR of a member's models, which tells without labels.

    Args:
        kl_threshold: Nats above which a latent is active.

    Example:
        >>> codes = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> copies = [Representation(codes), Representation(-codes[:, ::-1])]
        >>> round(AgreementScore()(copies), 3)
        0.9
    """

    kl_threshold: float = 0.01

    def __call__(self, representations: Sequence[Representation]) -> float:
        """Mean over the models of what each has in common with the others."""
        return float(np.mean(self.each(representations)))

    def each(self, representations: Sequence[Representation]) -> list[float]:
        """Of every model: the median of its agreements with the others."""
        udr = unsupervised_disentanglement_ranking(
            representations, kl_threshold=self.kl_threshold
        )
        return udr.scores.tolist()


@dataclass(frozen=True, eq=False)
class SurrogateScore:
    """A metric on labels that other models found: the median over tables of labels.

    Args:
        tables: Labels of some rows each.
        metric: Short name.
    """

    tables: tuple[LabelTable, ...]
    metric: str = "mig"

    def __call__(self, representations: Sequence[Representation]) -> float:
        """Median over the tables of the mean over the models."""
        score = MetricScore(self.metric)
        return float(
            np.median(
                [
                    score([table.label(codes) for codes in representations])
                    for table in self.tables
                ]
            )
        )
