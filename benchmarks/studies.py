"""What a study costs beside the training itself, and how many models it trains.

- overhead: 200 runs of about 2 seconds each on two workers; the share of the workers'
  time that is spent in training steps, and the memory of the parent at the start and
  at the end.
- many: seconds of ``unbraid study status`` and ``table`` with 10,000 finished runs.
- population: models times images per second of a study, its start and its scores
  included, against disent's training of one model after the other (its start not
  counted), with the same networks and batches.

    python benchmarks/studies.py [--parts overhead many population] [--rounds 3]
        [--json FILE]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from comparison import Comparison, add_option, tell
from peers import label_of, run_peer

MINI = {
    "data": "xy_squares:image_size=8,square_size=1",
    "objective": {"name": "beta_vae", "beta": 0.01, "scale": "mean"},
    "network": "dense",
    "likelihood": "gaussian",
    "training": {"batch_size": 64, "learning_rate": 1e-3, "log_every": 100},
    "evaluation": {"metrics": ["active_units"], "rows": 256},
}
CONV = MINI | {"data": "xy_object", "network": "dissertation"}


def with_steps(plain: dict, steps: int, n_seeds: int) -> dict:
    """A study of so many runs of so many steps."""
    return plain | {"training": plain["training"] | {"steps": steps}, "seeds": n_seeds}


def resident() -> float:
    """MB of memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def training_seconds(folder: Path, batch: int) -> float:
    """Seconds that all runs of a study spent in training steps."""
    total = 0.0
    for path in folder.glob("runs/*/history.jsonl"):
        before = 0
        for line in path.read_text().splitlines():
            record = json.loads(line)
            n_images = (record["step"] - before) * batch
            total += n_images / record["images_per_second"]
            before = record["step"]
    return total


class Memory:
    """Notes the memory of the parent at the first and at the last finished run."""

    def __init__(self) -> None:
        self.first = self.last = 0.0

    def begin(self, **facts) -> None:
        """Nothing to note."""

    def notify(self, news) -> None:
        """Note the memory when a run ends."""
        if news.kind == "ended":
            self.last = resident()
            self.first = self.first or self.last


def measure_overhead(folder: Path) -> None:
    """200 runs of two seconds."""
    from unbraid.execution import LocalExecutor
    from unbraid.studies import run_study, study_from_plain

    trial = with_steps(MINI, 600, 2)
    run_study(study_from_plain(trial), folder / "trial", executor=LocalExecutor(2))
    per_step = training_seconds(folder / "trial", 64) / 1200
    steps = round(2.0 / per_step / 100) * 100
    memory = Memory()
    study = study_from_plain(with_steps(MINI, steps, 200))
    start = time.perf_counter()
    run_study(study, folder / "many", executor=LocalExecutor(2), observer=memory)
    wall = time.perf_counter() - start
    trained = training_seconds(folder / "many", 64)
    print(f"200 runs of {steps} steps, {trained / 200:.2f} s of training each")
    share = trained / (2 * wall)
    print(f"wall {wall:.0f} s; {share:.1%} of two cores' time in training")
    print(
        f"parent: {memory.first:.0f} MB at the first end, {memory.last:.0f} at the last"
    )


def measure_many(folder: Path) -> None:
    """Commands on a study of 10,000 runs whose results are there."""
    from unbraid.execution import InlineExecutor
    from unbraid.studies import StudyFolder, run_study, study_from_plain

    standard = MINI | {"evaluation": {"metrics": "standard", "rows": 2000}}
    run_study(
        study_from_plain(with_steps(standard, 100, 1)),
        folder / "study",
        executor=InlineExecutor(),
    )
    (scores,) = folder.glob("study/runs/*/scores.json")
    content = scores.read_bytes()
    study = study_from_plain(with_steps(standard, 100, 10_000))
    place = StudyFolder(folder / "study")
    known = json.loads(place.data_file.read_text())["fingerprints"]
    place.write(study, known)
    for cell in place.cells:
        cell.files.path.mkdir(exist_ok=True)
        cell.files.scores.write_bytes(content)
    for command in ("status", "table"):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "unbraid", "study", command, place.path],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            times.append(time.perf_counter() - start)
        print(f"{command} of 10,000 runs: {statistics.median(times):.1f} s")


def measure_population(folder: Path, rounds: int) -> list[Comparison]:
    """Two workers against one model after the other."""
    from unbraid.execution import LocalExecutor
    from unbraid.studies import run_study, study_from_plain

    peer, lines = label_of("disent"), []
    for name, kind, plain, steps in (
        ("64x64x3 convolutional", "conv", CONV, 120),
        ("8x8 miniature", "mini", MINI, 4000),
    ):
        ours, theirs = [], []
        for number in range(rounds):
            theirs.append(
                run_peer("disent", "training_disent.py", kind, "64", "6", "0")["rate"]
            )
            study = study_from_plain(with_steps(plain, steps, 4))
            start = time.perf_counter()
            run_study(study, folder / f"{kind}{number}", executor=LocalExecutor(2))
            ours.append(4 * steps * 64 / (time.perf_counter() - start))
        lines.append(
            Comparison(
                what=f"{name}, four models of {steps:,} steps",
                unit="images per second",
                peer=peer,
                theirs=theirs,
                ours=ours,
            )
        )
    return lines


def main() -> None:
    """Measure the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = ("overhead", "many", "population")
    parser.add_argument("--parts", nargs="+", default=parts, choices=parts)
    parser.add_argument("--rounds", type=int, default=3)
    add_option(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for part in arguments.parts:
            folder = Path(scratch) / part
            if part == "overhead":
                measure_overhead(folder)
            elif part == "many":
                measure_many(folder)
            else:
                tell(measure_population(folder, arguments.rounds), arguments.json)


if __name__ == "__main__":
    main()
