"""reproduce: run the studies of a claim, measure it, write down what was found."""

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
    """A claim, what was measured, and the verdict; a small JSON file on disk.

    Attributes:
        name: Of the reproduction.
        source: Who claimed it, and where.
        claim: What was claimed.
        preset: At which size it was measured.
        verdict: Whether it holds.
        checks: Numbers that it stands or falls with.
        remark: What differs from the source.
        n_seeds: Repetitions behind the numbers, 0 if nothing is random.
        n_runs: Models that were trained.
        minutes: Of one core, for runs and measuring.
        day: Of the measurement.
        versions: Of what it was measured with.
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
        """Write it as JSON."""
        words = asdict(self)
        for check, plain in zip(self.checks, words["checks"], strict=True):
            plain.update(
                value=_plain(check.value),
                least=_plain(check.least),
                most=_plain(check.most),
                interval=check.interval and [_plain(end) for end in check.interval],
                verdict=check.verdict,
            )
        write_json(Path(path), words, kind=_KIND)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Finding":
        """Read it again.

        Raises:
            CheckpointFormatError: If the file is no finding, or of a newer version.
        """
        words = read_json(Path(path), kind=_KIND)
        checks = tuple(_read_check(plain) for plain in words.pop("checks"))
        known = {
            name: words[name] for name in cls.__dataclass_fields__ if name in words
        }
        return cls(**known, checks=checks)


def reproduce(
    name: str,
    preset: Preset = "mini",
    *,
    out: str | os.PathLike[str] = "reproductions",
    executor: AbstractExecutor | None = None,
    device: str = "auto",
    observer: Observer | None = None,
) -> Finding:
    """Ask whether a published claim holds.

    Studies that the claim needs are run as far as they are missing, and shared with
    other claims in the same folder; the same call goes on after any stop.

    Args:
        name: One of ``CLAIMS``.
        preset: ``"smoke"`` (seconds, shows that it works), ``"mini"`` (minutes to an
            hour on two cores) or ``"paper"`` (published sizes and data).
        out: Folder. ``studies/`` is shared; ``PRESET/NAME/`` gets ``finding.json`` and
            ``figure.png``.
        executor: Where to train; this process for ``"smoke"``, the cores of this
            machine otherwise.
        device: On which each run computes.
        observer: Told how the studies get on.

    Returns:
        What was found.

    Raises:
        ValueError: If there is no such claim or preset; names the nearest.
        InterruptedError: If the studies were interrupted.
    """
    claim = find_claim(name)
    require_preset(preset)
    place = expand_user(out)
    folder = place / preset / claim.name
    _require_own(folder)
    studies = {
        study: place / "studies" / f"{study}-{preset}"
        for study in claim.studies_at(preset)
    }
    if executor is None:
        executor = InlineExecutor() if preset == "smoke" else LocalExecutor()
    n_failed = 0
    # Small networks and tables are quicker on one thread, above all beside other work.
    with one_thread() if preset == "smoke" else contextlib.nullcontext():
        for study, where in studies.items():
            end = run_study(
                study_from_plain(study_of(study, preset)),
                where,
                executor=executor,
                device=device,
                observer=observer,
            )
            if end.left:
                raise InterruptedError(
                    f"reproduce: {end.left} runs of {study} are left, as it was "
                    f"{end.reason}. The same command goes on."
                )
            n_failed += end.failed
        evidence = Evidence(preset, folder, studies, revision=claim.changed)
        begun = time.monotonic()
        measured = claim.measure(evidence)
        seconds = evidence.run_seconds + time.monotonic() - begun
    failed = f"{n_failed} runs failed and are left out." if n_failed else ""
    finding = _finding(claim, preset, evidence, measured, seconds, failed)
    with atomic_write(folder / "figure.png") as file:
        figure = measured.figure or draw_checks(measured.checks)
        figure.savefig(file, format="png", dpi=130)
    finding.save(folder / "finding.json")
    return finding


def _require_own(folder: Path) -> None:
    """Refuse a folder with a finding or a figure that is somebody else's."""
    figure, finding = folder / "figure.png", folder / "finding.json"
    if finding.is_file():
        read_json(finding, kind=_KIND)
    elif os.path.lexists(finding) or os.path.lexists(figure):
        raise FileExistsError(
            f"reproduce: the folder {str(folder)!r} holds a figure.png or finding.json "
            "that unbraid did not write. Choose another with --out."
        )


def _finding(
    claim: Claim,
    preset: Preset,
    evidence: Evidence,
    measured: Measured,
    seconds: float,
    failed: str,
) -> Finding:
    # A few steps of training, or a few pairs of images, say nothing about a claim.
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
    """As JSON can say it."""
    return float(number) if math.isfinite(number) else None


def _read_check(plain: dict[str, Any]) -> Check:
    def number(value: float | None, absent: float) -> float:
        return absent if value is None else value

    interval: Interval | None = None
    if plain["interval"]:
        low, high = plain["interval"]
        interval = number(low, -math.inf), number(high, math.inf)
    return Check(
        quantity=plain["quantity"],
        expected=plain["expected"],
        value=number(plain["value"], math.nan),
        interval=interval,
        least=number(plain["least"], -math.inf),
        most=number(plain["most"], math.inf),
    )
