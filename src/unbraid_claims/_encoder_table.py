"""Frozen encoders of growing size: scores next to published ones, and trends."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from unbraid import encode, evaluate
from unbraid.data import as_dataset
from unbraid.foundation import check_integer, check_option, numpy_generator

Family = Literal["convolutional", "transformer"]
FAMILIES: tuple[Family, ...] = get_args(Family)

_MISSING = "not measured"


@dataclass(frozen=True, kw_only=True)
class FrozenEncoder:
    """An encoder that is scored as it is, without training.

    Args:
        name: Name of the encoder in the table.
        family: ``"convolutional"`` or ``"transformer"``; each has its own trend.
        n_parameters: Number of parameters of the whole model.
        load: Returns the encoder: anything that :func:`unbraid.encode` takes. Raises
            ``ImportError`` or ``FileNotFoundError`` if a package or the weights are
            missing.
        published: Published score, if there is one.
    """

    name: str
    family: Family
    n_parameters: int
    load: Callable[[], Any]
    published: float | None = None

    def __post_init__(self) -> None:
        check_option("family", self.family, Family)
        check_integer("n_parameters", self.n_parameters, least=1)


@dataclass(frozen=True, kw_only=True)
class EncoderScore:
    """Score of one encoder.

    Args:
        name: Name of the encoder.
        family: ``"convolutional"`` or ``"transformer"``.
        n_parameters: Number of parameters of the whole model.
        published: Published score, or ``None``.
        measured: Measured score, or ``None`` if the encoder could not be loaded.
        reason: Why the encoder was not measured.
    """

    name: str
    family: Family
    n_parameters: int
    published: float | None = None
    measured: float | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class EncoderTable:
    """Scores of several frozen encoders; ``print`` shows them as a table.

    Args:
        metric: Name of the metric.
        data: Name of the dataset on which the encoders were measured.
        scores: One record per encoder.

    Example:
        >>> two = (
        ...     EncoderScore(name="A", family="transformer", n_parameters=10_000_000,
        ...                  published=0.01, measured=0.02),
        ...     EncoderScore(name="B", family="transformer", n_parameters=100_000_000,
        ...                  published=0.03, reason="no weights"),
        ... )
        >>> table = EncoderTable(metric="mig", data="dsprites", scores=two)
        >>> round(table.trend("transformer", "published"), 6)
        0.02
        >>> table.trend("transformer", "measured") is None
        True
        >>> print(table)
        encoder  family       parameters  published mig  measured mig
        A        transformer        10 M        0.01000       0.02000
        B        transformer       100 M        0.03000  not measured
        <BLANKLINE>
        Change of mig when a model has ten times as many parameters:
        family         published  measured
        convolutional          -  not measured
        transformer     +0.02000  not measured
        <BLANKLINE>
        Measured on dsprites. Not measured:
        B: no weights
    """

    metric: str
    data: str
    scores: tuple[EncoderScore, ...]

    def trend(
        self, family: Family, column: Literal["published", "measured"]
    ) -> float | None:
        """Slope of the score in the decimal logarithm of the number of parameters.

        Args:
            family: Family of encoders.
            column: Scores to use.

        Returns:
            Least-squares slope, or ``None`` if fewer than two encoders of different
            size have such a score.
        """
        known = [
            (np.log10(score.n_parameters), value)
            for score in self.scores
            if score.family == family and (value := getattr(score, column)) is not None
        ]
        if len({size for size, _ in known}) < 2:
            return None
        sizes, values = np.array(known).T
        return float(np.polyfit(sizes, values, 1)[0])

    def to_frame(self) -> pd.DataFrame:
        """One row per encoder."""
        return pd.DataFrame([asdict(score) for score in self.scores])

    def __str__(self) -> str:
        columns = [
            ["encoder", *(score.name for score in self.scores)],
            ["family", *(score.family for score in self.scores)],
            ["parameters", *(_millions(score.n_parameters) for score in self.scores)],
            [
                f"published {self.metric}",
                *(_number(score.published, "-") for score in self.scores),
            ],
            [
                f"measured {self.metric}",
                *(_number(score.measured, _MISSING) for score in self.scores),
            ],
        ]
        lines = _aligned(columns, n_left=2)
        title = (
            f"Change of {self.metric} when a model has ten times as many parameters:"
        )
        lines += ["", title, *self._trend_lines(), "", self._footer()]
        return "\n".join(lines)

    def _trend_lines(self) -> list[str]:
        lines = [f"{'family':13}  {'published':>9}  measured"]
        for family in FAMILIES:
            published = _number(self.trend(family, "published"), "-", sign="+")
            measured = _number(self.trend(family, "measured"), _MISSING, sign="+")
            lines.append(f"{family:13}  {published:>9}  {measured}")
        return lines

    def _footer(self) -> str:
        reasons = [
            f"{score.name}: {score.reason}"
            for score in self.scores
            if score.measured is None
        ]
        first = f"Measured on {self.data}."
        return "\n".join([f"{first} Not measured:", *reasons] if reasons else [first])


def score_encoders(
    encoders: Iterable[FrozenEncoder],
    data: Any,
    *,
    metric: str = "mig",
    n_rows: int = 10_000,
    batch_size: int = 64,
    seed: int = 0,
) -> EncoderTable:
    """Score frozen encoders on the same images of a dataset.

    The encoders are loaded one after another, so that only one is in memory. An encoder
    whose package or weights are missing is listed as not measured.

    Args:
        encoders: Encoders to score, such as those of :func:`list_clip_encoders`.
        data: A dataset with factors, or its name.
        metric: Name of the metric.
        n_rows: Number of images, drawn without replacement; all of a smaller dataset.
        batch_size: Images per batch.
        seed: Seed of the draw of images.

    Returns:
        A table of published and measured scores.

    Example:
        >>> from unbraid.data import XYSquares
        >>> tiny = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> pixels = FrozenEncoder(name="pixels", family="convolutional",
        ...                        n_parameters=1, load=lambda: lambda images: images)
        >>> score_encoders([pixels], tiny).scores[0].measured is None
        False

    References:
        Ottlik, Ram and Liss (2022), Unsupervised Disentanglement Literature Review and
        Exploration with Scale, Table 1.
    """
    check_integer("n_rows", n_rows, least=2)
    dataset = as_dataset(data)
    order = numpy_generator(seed, "frozen encoders").permutation(len(dataset))
    rows = np.sort(order[:n_rows])

    def score(encoder: FrozenEncoder) -> EncoderScore:
        about = {
            "name": encoder.name,
            "family": encoder.family,
            "n_parameters": encoder.n_parameters,
            "published": encoder.published,
        }
        try:
            model = encoder.load()
        except (ImportError, FileNotFoundError) as error:
            return EncoderScore(**about, reason=str(error))
        codes = encode(model, dataset, rows=rows, batch_size=batch_size, progress=False)
        card = evaluate(
            codes, metrics=metric, intervals=False, levels=False, progress=False
        )
        return EncoderScore(**about, measured=float(card[metric]))

    scores = tuple(score(encoder) for encoder in encoders)
    return EncoderTable(metric=metric, data=dataset.name, scores=scores)


def _millions(count: int) -> str:
    return f"{count / 1e6:,.0f} M" if count >= 1e6 else f"{count:,}"


def _number(value: float | None, missing: str, *, sign: str = "") -> str:
    return missing if value is None else f"{value:{sign}.5f}"


def _aligned(columns: Sequence[Sequence[str]], *, n_left: int) -> list[str]:
    """Lines of a table whose first columns are aligned to the left."""
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join(
            f"{cell:{'<' if index < n_left else '>'}{width}}"
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in zip(*columns, strict=True)
    ]
