"""Jobs, which are units of work for a worker process, and their outcomes."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

End = Literal["done", "failed", "busy", "interrupted", "blocked", "died"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A unit of work, as plain data that can be sent to another process.

    Attributes:
        id: Name of the job, unique among those that run together.
        kind: Function that does the work, as ``"package.module:function"``. It takes
            the job and a function to report progress with (see :data:`Report`).
        folder: Folder for the results of the job.
        spec: Settings for that function, as JSON-compatible values.
        device: Device to compute on.
        steps: Number of training steps, to show progress; 0 if unknown.
        description: Short description that distinguishes the job from others.
    """

    id: str
    kind: str
    folder: str
    spec: dict[str, Any] = field(default_factory=dict)
    device: str = "cpu"
    steps: int = 0
    description: str = ""

    def to_plain(self) -> dict[str, Any]:
        """Return the fields as a JSON-compatible dictionary."""
        return asdict(self)

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> "Job":
        """Return the job with the given fields, see :meth:`to_plain`."""
        return cls(**data)


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    Attributes:
        id: Name of the job.
        end: ``done``; ``failed`` with an error of its own, which a retry would not
            fix; ``busy`` if another process is working on it; ``interrupted`` by the
            user; ``blocked`` by an outside cause such as a full disk; or ``died`` if
            its worker died.
        message: Reason in one line; empty if the job is done.
    """

    id: str
    end: End
    message: str = ""
