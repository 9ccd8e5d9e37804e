"""Run: a trained model with its history."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.foundation import CheckpointFormatError, html_table, read_json
from unbraid.models import Autoencoder

from ._diagnosis import Diagnosis, find_gap
from ._history import read_history
from ._model_file import load
from ._run_folder import RunFolder
from ._scores import ScoreCurve, score_curves
from ._specification import TrainingSpec
from ._trace import Trace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Run:
    """A run of training.

    Attributes:
        model: The trained model.
        history: One record per range of steps: ``"step"``, ``"total"`` and every term
            of the loss (means over the range, in nats per image), ``"kl_per_latent"``,
            ``"active_latents"`` (above 0.01 nats), ``"gradient_norm"`` (of the last
            step) and ``"images_per_second"``.
        spec: Settings of the run.
        warnings: Problems that were found.
        folder: Folder of the run, if it has one.
        trace: Activations during training, if they were recorded.
        scores: Scores during training, if there were any: one record per scored step,
            with ``"step"`` and the value of each score.
    """

    model: Autoencoder
    history: list[dict[str, Any]] = field(repr=False)
    spec: TrainingSpec
    warnings: tuple[Diagnosis, ...] = ()
    folder: Path | None = None
    trace: Trace | None = field(default=None, repr=False)
    scores: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def __repr__(self) -> str:
        parts = [
            type(self.spec.objective).__name__,
            f"{self.spec.n_latents} latents",
            f"{self.spec.steps:,} steps",
            f"seed {self.spec.seed}",
        ]
        if self.warnings:
            parts.append(f"warnings: {', '.join(each.name for each in self.warnings)}")
        if self.folder is not None:
            parts.append(f"folder={str(self.folder)!r}")
        return f"Run({', '.join(parts)})"

    def _repr_html_(self) -> str:
        """Settings, the last record of the history and warnings, for notebooks."""
        spec, last = self.spec, self.history[-1] if self.history else {}
        rows = {
            "objective": spec.objective,
            "network": spec.network,
            "likelihood": spec.likelihood,
            "data": " x ".join(map(str, spec.image_shape)),
            "latents": spec.n_latents,
            "steps": f"{spec.steps:,}",
            "batch size": spec.batch_size,
            "seed": spec.seed,
            "folder": self.folder or "-",
        }
        if "total" in last:
            rows["last loss"] = f"{last['total']:.4g} nats per image"
        if "active_latents" in last:
            rows["active latents"] = last["active_latents"]
        return html_table(
            ("", ""),
            [(name, str(value)) for name, value in rows.items()],
            title="Run",
            notes=[each.message for each in self.warnings],
        )

    @property
    def score_curves(self) -> dict[str, ScoreCurve]:
        """Scores during training by name, with the best and the last value of each."""
        return score_curves(self.scores)

    def to_frame(self) -> "pd.DataFrame":
        """Return the history as a table, one row per record.

        Example:
            >>> from unbraid.data import XYSquares
            >>> from unbraid.training import fit
            >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
            >>> run = fit("vae", squares, steps=20, log_every=10, n_latents=2)
            >>> run.to_frame()["step"].tolist()
            [10, 20]
        """
        import pandas as pd  # takes a while to import, and training does not need it

        return pd.DataFrame(self.history)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], **own: Any) -> "Run":
        """Load a finished run.

        Args:
            folder: Folder of the run, the argument ``out`` of ``fit``.
            own: ``objective``, ``network`` and ``likelihood``, where they are not
                unbraid's own.

        Raises:
            CheckpointFormatError: If a file is damaged, of another kind, or written by
                a newer version.
        """
        files = RunFolder(folder)
        parts = {name: own[name] for name in ("network", "likelihood") if name in own}
        model = load(files.path, **parts)
        if not isinstance(model, Autoencoder):
            raise CheckpointFormatError(
                f"{files.model}: this is a linear model, which no run makes. Load it "
                "with unbraid.load."
            )
        about = read_json(files.spec, kind="run")
        files.check_model(about)
        try:
            spec = TrainingSpec.from_plain(about["spec"], **own)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise CheckpointFormatError(
                f"{files.spec}: the settings of the run cannot be read: {error}"
            ) from error
        history = read_history(files.history)
        return cls(
            model=model,
            history=history,
            spec=spec,
            warnings=(*files.read_warnings(), *find_gap(spec, history)),
            folder=files.path,
            trace=Trace.load(files.path) if files.traces.is_file() else None,
            scores=read_history(files.scores),
        )
