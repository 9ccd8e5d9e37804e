"""Run every side-by-side comparison and write RESULTS.md.

Each suite runs in a process of its own, one after the other. A result that is there is
not measured again, so that a run that was stopped goes on; a suite that fails is named
on the page and the others go on.

    python benchmarks/all.py [--only data training] [--again]
"""

import argparse
import dataclasses
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

from comparison import Comparison, told
from peers import versions_of
from results import FOLDER, Result, page

HERE = Path(__file__).parent
PAGE = HERE / "RESULTS.md"
PACKAGES = ("unbraid", "torch", "numpy", "scikit-learn")


@dataclasses.dataclass(frozen=True)
class Suite:
    """A script, what it compares, and the peer whose environment it needs."""

    script: str
    about: str
    arguments: tuple[str, ...] = ()
    peer: str | None = None


SUITES = {
    "data": Suite(
        "data.py",
        "Batches of 256 float images of 64x64x3 drawn at random on the CPU: our stream "
        "against disent's dataset in a DataLoader.",
        ("--rounds", "5", "--seconds", "1.5"),
        "disent",
    ),
    "training": Suite(
        "training.py",
        "BetaVAE with Adam, the same data, networks and batch sizes. `conv` is "
        "XYObject at 64x64x3 with the convolutional network of the dissertation, "
        "`mini` is XYSquares at 8x8x3 with a dense network. Twice: two models in two "
        "processes of one thread each. The bare loop trains the same network on one "
        "fixed batch.",
        ("--rounds", "3", "--seconds", "3"),
        "disent",
    ),
    "population": Suite(
        "studies.py",
        "A study of four models on two workers, its start and its scores included, "
        "against disent's training of one model after the other, its start not "
        "counted.",
        ("--parts", "population", "--rounds", "2"),
        "disent",
    ),
    "selection": Suite(
        "udr.py",
        "Ranking 200 models of 10 latents by agreement on 1,000 rows, 39,800 ordered "
        "pairs, one thread: against scikit-learn (scipy for ranks) pair by pair, as "
        "disentanglement_lib does it, timed on 50 pairs and multiplied.",
        ("--rounds", "3"),
    ),
    "geomancer": Suite(
        "geomancer.py",
        "GeoManCEr on 5,000 points of S2xS3, against an implementation of ours that "
        "takes the published steps one point and one edge at a time.",
        ("speed",),
    ),
    "explorer": Suite(
        "explorer.py",
        "The explorer's page in headless chromium: a redraw of the picture after a "
        "slider moves, and the size of the file. There is no peer: the numbers stand "
        "beside the limits that were set.",
    ),
    "metrics": Suite(
        "metrics.py",
        "The standard metrics on 10,000 + 5,000 rows of 10 codes over the factors of "
        "dSprites, and the images that an evaluation encodes: against "
        "disentanglement_lib, which is measured once because its DCI takes minutes.",
        ("--parts", "speed", "images", "--rounds", "2"),
        "dlib",
    ),
}


def main() -> None:
    """Measure what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SUITES, default=list(SUITES))
    parser.add_argument(
        "--again", action="store_true", help="measure also what has a result"
    )
    arguments = parser.parse_args()
    for name in arguments.only:
        known = Result.read(name, FOLDER)
        is_missing = known is None or known.error or known.source
        if is_missing or arguments.again:
            print(f"== {name}", flush=True)
            measure(name, SUITES[name]).write(FOLDER)
        else:
            print(f"== {name}: measured on {known.date}, kept (--again to repeat)")
    results = kept()
    PAGE.write_text(page(results))
    print(f"Wrote {PAGE}.")
    if failed := [result.name for result in results if result.error]:
        sys.exit(f"Failed: {', '.join(failed)}.")


def kept() -> list[Result]:
    """Results that are there, in the order of the suites."""
    return [result for name in SUITES if (result := Result.read(name, FOLDER))]


def measure(name: str, suite: Suite) -> Result:
    """Run a suite in a process of its own."""
    comparisons, error, versions = [], "", own_versions()
    start, others = time.perf_counter(), time_of_others()
    try:
        if suite.peer:
            versions |= versions_of(suite.peer)
        # The peer is installed by now.
        start, others = time.perf_counter(), time_of_others()
        comparisons = run(suite)
    except (OSError, ValueError, subprocess.CalledProcessError) as failure:
        words = str(getattr(failure, "stderr", None) or failure)
        print(words, file=sys.stderr)
        error = words.strip().splitlines()[-1]
    seconds = time.perf_counter() - start
    return Result(
        name=name,
        date=date.today().isoformat(),
        command=f"python benchmarks/{' '.join((suite.script, *suite.arguments))}",
        about=suite.about,
        machine=machine(),
        versions=versions,
        seconds=round(seconds, 1),
        others=round((time_of_others() - others) / seconds / (os.cpu_count() or 1), 3),
        comparisons=comparisons,
        error=error,
    )


def run(suite: Suite) -> list[Comparison]:
    """What a script hands over, after it has printed it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "comparisons.jsonl"
        command = [sys.executable, HERE / suite.script, *suite.arguments]
        subprocess.run(
            [*command, "--json", file], check=True, stderr=subprocess.PIPE, text=True
        )
        return told(file)


def machine() -> str:
    """Processor and number of cores."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return f"{model}, {os.cpu_count()} cores"


def time_of_others() -> float:
    """Processor seconds since the start of the machine that were not ours."""
    statistics = Path("/proc/stat")
    if not statistics.exists():
        return 0.0
    numbers = map(int, statistics.read_text().split("\n")[0].split()[1:9])
    user, nice, system, _, _, hard, soft, stolen = numbers
    busy = user + nice + system + hard + soft + stolen
    return busy / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def own_versions() -> dict[str, str]:
    """Versions of the environment that unbraid runs in."""
    return {"python": platform.python_version()} | {
        name: version(name) for name in PACKAGES
    }


if __name__ == "__main__":
    main()
