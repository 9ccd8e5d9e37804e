"""Discovery: the chosen model, its codes, and how sure the choice is."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unbraid.foundation import html_table
from unbraid.models import Autoencoder
from unbraid.representation import Representation
from unbraid.selection import Ranking


@dataclass(frozen=True)
class Latent:
    """One latent of the chosen model.

    Attributes:
        number: Index of the latent, from 0.
        kl: Mean divergence from the prior, in nats per image.
        change: Mean change of a pixel while the latent moves from -2 to 2, between 0
            and 1.
    """

    number: int
    kl: float
    change: float


@dataclass(frozen=True)
class Quality:
    """How good the choice was, by labels that were not used to make it.

    Attributes:
        chosen: MIG of the chosen model.
        median: Median MIG of all models.
        best: Highest MIG among all models.
        better_than: Share of the other models that are worse than the chosen one.
    """

    chosen: float
    median: float
    best: float
    better_than: float


@dataclass(frozen=True)
class FailedRun:
    """A run that failed to learn, or a configuration none of whose runs learned.

    Attributes:
        name: Name of the run or configuration.
        reason: Why it failed, as a sentence.
    """

    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class Discovery:
    """Result of a discovery.

    Attributes:
        folder: Folder of the discovery.
        ranking: Models and configurations in order; says why no model was chosen, if
            none was.
        model: The chosen model, or ``None``.
        codes: Codes of all images, or ``None`` without a model.
        latents: Active latents of the model, the most informative first.
        explained: Share of the variance of the pixels that the model reconstructs, up
            to 1; ``None`` without a model.
        quality: Quality of the choice, if the data have labels.
        summary: Text file that describes the result.
        report: Page with figures, or ``None`` if it could not be drawn.
        failures: Runs of all rounds that failed to learn.
    """

    folder: Path
    ranking: Ranking
    model: Autoencoder | None
    codes: Representation | None
    latents: tuple[Latent, ...]
    explained: float | None
    quality: Quality | None
    summary: Path
    report: Path | None
    failures: tuple[FailedRun, ...] = ()

    def __repr__(self) -> str:
        parts = [f"chosen={self.ranking.chosen!r}"]
        if self.model is not None:
            parts.append(f"{len(self.latents)} active latents")
        if self.explained is not None:
            parts.append(f"{self.explained:.0%} of the variance explained")
        return f"Discovery({', '.join(parts)}, folder={str(self.folder)!r})"

    def _repr_html_(self) -> str:
        """Return the choice, its latents and the path of the report, for notebooks."""
        rows = [
            (f"z{latent.number}", f"{latent.kl:.2f}", f"{latent.change:.3f}")
            for latent in self.latents
        ]
        notes = [f"Report: {self.report or self.summary}"]
        if self.explained is not None:
            share = f"{self.explained:.0%}"
            notes.insert(
                0, f"The model explains {share} of the variance of the pixels."
            )
        if self.failures:
            notes.insert(-1, f"Runs that failed to learn: {len(self.failures)}.")
        return html_table(
            ("latent", "KL (nats)", "mean change of a pixel"),
            rows,
            title=f"Chosen: {self.ranking.chosen or 'no model'}. {self.ranking.reason}",
            notes=notes,
        )

    def to_plain(self) -> dict[str, Any]:
        """Return everything but model and codes, as JSON can hold it."""
        return {
            "folder": str(self.folder),
            "summary": str(self.summary),
            "report": None if self.report is None else str(self.report),
            "latents": [asdict(latent) for latent in self.latents],
            "explained": self.explained,
            "quality": None if self.quality is None else asdict(self.quality),
            "failures": [asdict(failure) for failure in self.failures],
            "ranking": self.ranking.to_plain(),
        }
