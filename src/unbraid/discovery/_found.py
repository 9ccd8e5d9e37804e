"""What a discovery found: a model, codes, pictures, and an account of it in words."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, float_images
from unbraid.foundation import atomic_write, html_table, printable_name, write_json
from unbraid.models import Autoencoder
from unbraid.reports import (
    draw_latent_traversals,
    latent_traversals,
    write_explorer,
    write_report,
)
from unbraid.reports.figures import save_figure
from unbraid.representation import Representation, encode
from unbraid.selection import Ranking
from unbraid.training import ACTIVE, copy_model, load, read_model_hash

from ._account import account
from ._data import Source, sample_rows
from ._gather import Population, describe_population
from ._plan import Plan
from ._result_folder import place_of_result, publish, staged_result

_LATENTS_SHOWN = 10
_ROWS_EXPLAINED, _BATCH = 2_000, 256


@dataclass(frozen=True)
class Latent:
    """One latent of the chosen model.

    Attributes:
        number: Which one, from 0.
        kl: Nats that it says about an image.
        change: Mean change of a pixel while it moves from -2 to 2, from 0 to 1.
    """

    number: int
    kl: float
    change: float


@dataclass(frozen=True)
class Quality:
    """How good the choice was, by labels that were not used to make it.

    Attributes:
        chosen: MIG of the chosen model.
        median: Of all models.
        best: Of all models.
        better_than: Share of the other models that are worse than the chosen one.
    """

    chosen: float
    median: float
    best: float
    better_than: float


@dataclass(frozen=True, eq=False)
class Discovery:
    """What was found.

    Attributes:
        folder: Where everything is.
        ranking: Of models and specifications; says why nothing was chosen, if so.
        model: The chosen one, or ``None``.
        codes: Of all images, or ``None``.
        latents: Those that do something, the strongest first.
        explained: Share of the variance of the pixels that the model reconstructs, up
            to 1; ``None`` without a model.
        quality: How good the choice was, if the data have labels.
        summary: The account in words, a text file.
        report: A page with pictures, or ``None`` if it could not be drawn.
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

    def __repr__(self) -> str:
        parts = [f"chosen={self.ranking.chosen!r}"]
        if self.model is not None:
            parts.append(f"{len(self.latents)} active latents")
        if self.explained is not None:
            parts.append(f"{self.explained:.0%} of the variance explained")
        return f"Discovery({', '.join(parts)}, folder={str(self.folder)!r})"

    def _repr_html_(self) -> str:
        """The choice, its latents and where everything is, for notebooks."""
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
        return html_table(
            ("latent", "KL (nats)", "mean change of a pixel"),
            rows,
            title=f"Chosen: {self.ranking.chosen or 'no model'}. {self.ranking.reason}",
            notes=notes,
        )

    def to_plain(self) -> dict[str, Any]:
        """Everything but model and codes, as JSON can hold it."""
        return {
            "folder": str(self.folder),
            "summary": str(self.summary),
            "report": None if self.report is None else str(self.report),
            "latents": [asdict(latent) for latent in self.latents],
            "explained": self.explained,
            "quality": None if self.quality is None else asdict(self.quality),
            "ranking": self.ranking.to_plain(),
        }


def write_found(
    folder: Path,
    source: Source,
    plan: Plan,
    population: Population,
    ranking: Ranking,
    *,
    n_failed: int,
) -> Discovery:
    """Write what was found; what was found before is kept under ``history``.

    A refusal does not take the place of a model that was chosen before: it goes to
    ``history`` itself.

    Args:
        folder: Folder of the discovery.
        source: Its data.
        plan: What was tried.
        population: What became of it.
        ranking: Of the population.
        n_failed: Runs that failed.
    """
    place = place_of_result(folder, is_refusal=ranking.chosen is None)
    with staged_result(folder) as staged:
        model = codes = quality = weights = explained = None
        latents: tuple[Latent, ...] = ()
        if ranking.chosen is not None:
            run = population.cell(ranking.chosen).files.path
            model = load(run)
            assert isinstance(model, Autoencoder)  # a study trains nothing else
            codes = encode(model, source.dataset, progress=False)
            copy_model(run, staged / "model")
            weights = read_model_hash(run)
            _write_codes(staged, codes, source.names)
            latents = _write_traversals(staged, model, source)
            explained = measure_explained(model, source.dataset)
            quality = _quality(population, ranking.chosen)
        summary = place / "summary.txt"
        found = Discovery(
            folder, ranking, model, codes, latents, explained, quality, summary, None
        )
        text = account(found, source, plan, population, n_failed=n_failed)
        if place != folder:
            text += (
                f"- The model that was chosen before is still in {folder / 'model'}. "
                f"This result is in {place}.\n"
            )
        with atomic_write(staged / "summary.txt") as file:
            file.write(text.encode(errors="backslashreplace"))
        more = describe_population(population, ranking.chosen)
        more |= {"weights": weights, "plan": plan.to_plain()}

        def write(found: Discovery) -> None:
            words = found.to_plain() | more
            write_json(staged / "discovery.json", words, kind="discovery")

        write(found)
        if _write_pages(folder, staged, model, source, ranking) is not None:
            found = replace(found, report=place / "report.html")
        write(found)
        place = publish(staged, folder, place)
    report = None if found.report is None else place / "report.html"
    return replace(found, summary=place / "summary.txt", report=report)


def _write_pages(
    folder: Path,
    staged: Path,
    model: Autoencoder | None,
    source: Source,
    ranking: Ranking,
) -> Path | None:
    """The explorer, and the report, which has it inside and links to it."""
    if model is not None and len(model.image_shape) == 3:
        page, names = staged / "explorer.html", [ranking.chosen or "A"]
        _attempt(
            "explorer",
            lambda: write_explorer(model, source.dataset, page, model_names=names),
        )
    page = staged / "report.html"
    return _attempt("report", lambda: write_report(folder, page, result=staged))


def _attempt(what: str, write: Callable[[], Path]) -> Path | None:
    try:
        return write()
    except Exception as error:
        # Whatever it is: hours of training are not lost for a picture.
        words = f"discover: the {what} could not be drawn ({error}). All else is there."
        warnings.warn(words, stacklevel=4)
        return None


def _write_codes(folder: Path, codes: Representation, names: Sequence[str]) -> None:
    with atomic_write(folder / "codes.npy") as file:
        np.save(file, codes.codes.astype(np.float32))
    if names:
        with atomic_write(folder / "files.txt") as file:
            # One line per image, whatever its name is.
            lines = (f"{printable_name(name)}\n" for name in names)
            file.write("".join(lines).encode())


def _write_traversals(
    folder: Path, model: Autoencoder, source: Source
) -> tuple[Latent, ...]:
    if len(model.image_shape) != 3:
        return ()
    every = latent_traversals(model, source.dataset, n_latents=_LATENTS_SHOWN)
    n_active = max(sum(kl > ACTIVE for kl in every.kl), 1)
    shown = replace(
        every,
        latents=every.latents[:n_active],
        kl=every.kl[:n_active],
        images=every.images[:, :n_active],
    )
    save_figure(draw_latent_traversals(shown), folder / "traversals.png")
    changes = _changes(shown.images)
    return tuple(
        Latent(number, kl, float(change))
        for number, kl, change in zip(shown.latents, shown.kl, changes, strict=True)
    )


def measure_explained(model: Autoencoder, dataset: AbstractDataset) -> float:
    r"""Share of the variance of the data that reconstructions from means explain.

    .. math:: 1 - \frac{\sum_x \| x - \hat x \|^2}{\sum_x \| x - \bar x \|^2}

    Args:
        model: Trained model.
        dataset: Data that it learned from, of which up to 2,000 rows are looked at.

    Returns:
        At most 1; below 0 if reconstructions are worse than the mean of the data.
    """
    rows = sample_rows(dataset, _ROWS_EXPLAINED)
    images = float_images(dataset, rows)
    with torch.no_grad():
        again = torch.cat([model(part).cpu() for part in images.split(_BATCH)])
    left = (images - again).double().square().sum()
    total = (images - images.mean(dim=0)).double().square().sum()
    return float(1 - left / total)


def _changes(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Of each latent, from pictures ``(bases, latents, values, channels, h, w)``."""
    ends = images[:, :, [0, -1]].astype(np.float64) / 255
    return np.abs(ends[:, :, 1] - ends[:, :, 0]).mean(axis=(0, 2, 3, 4))


def _quality(population: Population, chosen: str) -> Quality | None:
    scores = population.scores
    if np.isnan(scores).any():
        return None
    own = population.evidence.names.index(chosen)
    others = np.delete(scores, own)
    return Quality(
        chosen=float(scores[own]),
        median=float(np.median(scores)),
        best=float(scores.max()),
        better_than=float(np.mean(others < scores[own])),
    )
