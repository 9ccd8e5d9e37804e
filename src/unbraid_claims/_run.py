"""Running the studies of a claim, and measuring it."""

import contextlib
import math
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unbraid.execution import AbstractExecutor, InlineExecutor, LocalExecutor, Observer
from unbraid.foundation import atomic_write, expand_user, read_json, write_json
from unbraid.studies import run_study, study_from_plain

from ._catalogue import find_claim
from ._claim import Claim, Preset, require_preset
from ._evidence import Evidence
from ._finding import Check, Interval, Measured, Verdict
from ._picture import draw_checks
from ._studies import study_of
from ._threads import one_thread

_KIND = "finding"
_SMOKE = "This size shows that the reproduction works, not whether the claim holds."


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Result of reproducing a claim, stored as JSON.

    Attributes:
        name: Name of the claim.
        source: Publication, and the table or figure in it.
        claim: Claim in one sentence.
        preset: Size at which it was measured.
        verdict: Whether the claim holds.
        checks: Numbers that decide whether the claim holds.
        remark: Differences from the source.
        n_seeds: Number of seeds; 0 if nothing is random.
        n_runs: Number of trained models.
        minutes: Time on one core, for training and measuring.
        day: Date of the measurement, as YYYY-MM-DD.
        versions: Versions of the packages that were used.
    """

    name: str
    source: str
    claim: str
    preset: Preset
    verdict: Verdict
    checks: tuple[Check, ...]
    remark: str
    n_seeds: int
    n_runs: int
    minutes: float
    day: str
    versions: dict[str, str]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the finding as JSON."""
        record = asdict(self)
        for check, plain in zip(self.checks, record["checks"], strict=True):
            plain.update(
                value=_plain(check.value),
                least=_plain(check.least),
                most=_plain(check.most),
                interval=check.interval and [_plain(end) for end in check.interval],
                verdict=check.verdict,
            )
        write_json(Path(path), record, kind=_KIND)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Finding":
        """Read a finding from a JSON file.

        Raises:
            CheckpointFormatError: If the file is not a finding, or of a newer version.
        """
        record = read_json(Path(path), kind=_KIND)
        checks = tuple(_read_check(plain) for plain in record.pop("checks"))
        fields = {
            name: record[name] for name in cls.__dataclass_fields__ if name in record
        }
        return cls(**fields, checks=checks)


def reproduce(
    name: str,
    preset: Preset = "mini",
    *,
    out: str | os.PathLike[str] = "reproductions",
    executor: AbstractExecutor | None = None,
    device: str = "auto",
    observer: Observer | None = None,
) -> Finding:
    """Measure whether a published claim holds.

    Missing runs of the studies that the claim needs are trained first. Claims in the
    same folder share studies. After an interruption, the same call continues.

    Args:
        name: Name of the claim, a key of ``CLAIMS``.
        preset: Size: ``"smoke"`` (seconds, only tests the code), ``"mini"`` (minutes to
            an hour on two cores) or ``"paper"`` (published sizes and data).
        out: Folder for the results. Studies are in ``studies/``; ``finding.json`` and
            ``figure.png`` are in ``PRESET/NAME/``.
        executor: Executor that trains the models. Default: the current process for
            ``"smoke"``, and the cores of this machine otherwise.
        device: Device on which each model is trained.
        observer: Notified of every event.

    Returns:
        Measured numbers and verdict.

    Raises:
        ValueError: If the claim or preset is unknown.
        InterruptedError: If the studies were interrupted.
    """
    claim = find_claim(name)
    require_preset(preset)
    root = expand_user(out)
    folder = root / preset / claim.name
    _require_own(folder)
    studies = {
        study: root / "studies" / f"{study}-{preset}"
        for study in claim.studies_at(preset)
    }
    if executor is None:
        executor = InlineExecutor() if preset == "smoke" else LocalExecutor()
    n_failed = 0
    # Small networks and tables are faster on one thread.
    with one_thread() if preset == "smoke" else contextlib.nullcontext():
        for study, study_folder in studies.items():
            end = run_study(
                study_from_plain(study_of(study, preset)),
                study_folder,
                executor=executor,
                device=device,
                observer=observer,
            )
            if end.left:
                raise InterruptedError(
                    f"{end.left} runs of the study {study} are missing, because it was "
                    f"{end.reason}. Continue with the same command."
                )
            n_failed += end.failed
        evidence = Evidence(preset, folder, studies, revision=claim.changed)
        start = time.monotonic()
        measured = claim.measure(evidence)
        seconds = evidence.run_seconds + time.monotonic() - start
    failed = f"{n_failed} runs failed and are left out." if n_failed else ""
    finding = _make_finding(claim, preset, evidence, measured, seconds, failed)
    with atomic_write(folder / "figure.png") as file:
        figure = measured.figure or draw_checks(measured.checks)
        figure.savefig(file, format="png", dpi=130)
    finding.save(folder / "finding.json")
    return finding


def _require_own(folder: Path) -> None:
    """Raise an error if a finding or figure exists that unbraid did not write."""
    figure, finding = folder / "figure.png", folder / "finding.json"
    if finding.is_file():
        read_json(finding, kind=_KIND)
    elif os.path.lexists(finding) or os.path.lexists(figure):
        raise FileExistsError(
            f"The folder {str(folder)!r} contains a figure.png or finding.json that "
            "unbraid did not write. Choose another folder with --out."
        )


def _make_finding(
    claim: Claim,
    preset: Preset,
    evidence: Evidence,
    measured: Measured,
    seconds: float,
    failed: str,
) -> Finding:
    # A few steps of training cannot decide a claim.
    is_smoke = preset == "smoke"
    remarks: Sequence[str] = [_SMOKE if is_smoke else "", failed, measured.remark]
    return Finding(
        name=claim.name,
        source=claim.source,
        claim=claim.text,
        preset=preset,
        verdict="cannot be told" if is_smoke else measured.verdict,
        checks=tuple(measured.checks),
        remark=" ".join(filter(None, remarks)),
        n_seeds=measured.n_seeds or evidence.n_seeds,
        n_runs=evidence.n_runs,
        minutes=round(seconds / 60, 2),
        day=date.today().isoformat(),
        versions={name: version(name) for name in ("unbraid", "torch", "numpy")},
    )


def _plain(number: float) -> float | None:
    """Convert to JSON, which has no infinity and NaN."""
    return float(number) if math.isfinite(number) else None


def _read_check(plain: dict[str, Any]) -> Check:
    def number(value: float | None, absent: float) -> float:
        return absent if value is None else value

    interval: Interval | None = None
    if plain["interval"]:
        low, high = plain["interval"]
        interval = number(low, -math.inf), number(high, math.inf)
    fields = {name: plain[name] for name in Check.__dataclass_fields__}
    fields["value"] = number(plain["value"], math.nan)
    fields["least"] = number(plain["least"], -math.inf)
    fields["most"] = number(plain["most"], math.inf)
    return Check(**{**fields, "interval": interval})
