"""Previews: what a paused run has learned so far, seen without labels."""

from dataclasses import dataclass

import numpy as np

from unbraid.data import AbstractDataset
from unbraid.evolution import read_codes
from unbraid.foundation import (
    CheckpointFormatError,
    NewerFormatError,
    numpy_generator,
    read_json,
    set_aside,
    write_json,
)
from unbraid.models import Autoencoder
from unbraid.representation import Representation, encode

from ._run_files import RunFiles
from ._scoring import measure_fit

_KIND = "preview of a run"
_ROWS = 1_000
_FIT = ("reconstruction", "kl", "elbo", "active_latents")


@dataclass(frozen=True, eq=False)
class Preview:
    """A paused run, as far as it can be judged without labels.

    Attributes:
        step: Step at which the run paused.
        codes: Codes of up to 1,000 rows, the same rows for every run of a study.
        fit: ``reconstruction``, ``kl`` and ``elbo`` in nats per image, and
            ``active_latents``.
    """

    step: int
    codes: Representation
    fit: dict[str, float]


def write_preview(
    files: RunFiles,
    model: Autoencoder,
    dataset: AbstractDataset,
    *,
    step: int,
) -> None:
    """Encode some rows with the model of a paused run, and measure its fit.

    Args:
        files: Files of the run.
        model: Model of the run at this step.
        dataset: Data that the run learns from.
        step: Step at which the run paused.
    """
    generator = numpy_generator(0, "preview rows")
    n_rows = min(len(dataset), _ROWS)
    rows = np.sort(generator.choice(len(dataset), n_rows, replace=False))
    encode(model, dataset, rows=rows, progress=False).save(files.preview_codes(step))
    fit = measure_fit(model, dataset, rows, seed=0)
    # Written last: it says that the codes are there.
    write_json(files.preview(step), {"step": step, "fit": fit}, kind=_KIND)


def read_preview(files: RunFiles, *, step: int) -> Preview | None:
    """Return the preview of a run at a step; ``None`` if there is none.

    A damaged preview is renamed, so that it is computed again.

    Args:
        files: Files of the run.
        step: Step at which the run must have paused.

    Raises:
        NewerFormatError: If a newer version wrote it.
    """
    path = files.preview(step)
    if not path.is_file():
        return None
    try:
        found = read_json(path, kind=_KIND)["fit"]
        fit = {name: float(found[name]) for name in _FIT if name in found}
        is_sound = "active_latents" in fit and np.isfinite(list(fit.values())).all()
    except NewerFormatError:
        raise
    except (CheckpointFormatError, AttributeError, LookupError, TypeError, ValueError):
        is_sound, fit = False, {}
    codes = read_codes(files.preview_codes(step)) if is_sound else None
    if codes is None or not np.isfinite(codes.codes).all():
        set_aside(path)
        return None
    return Preview(step, codes, fit)
