"""Images per second of the batch stream, side by side with disent's DataLoader.

Same datasets (XYSquares and XYObject, 64x64x3), same batch (256 float32 images on the
CPU, drawn at random), both sides in turn, medians over rounds. The peer is measured
with two workers, as its own example starts it on two cores, and without any.

    python benchmarks/data.py [--rounds 5] [--seconds 3] [--json FILE]
"""

import argparse
import time

from comparison import Comparison, add_option, tell
from peers import label_of, run_peer

from unbraid.data import AbstractDataset, BatchStream, XYObject, XYSquares

DATASETS = {"XYSquares": XYSquares(), "XYObject": XYObject()}


def measure(dataset: AbstractDataset, seconds: float) -> float:
    """Images per second of a stream, after the first batch."""
    batches = iter(BatchStream(dataset=dataset, size=256))
    next(batches)
    n_images, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        n_images += len(next(batches).images)
    return n_images / (time.perf_counter() - start)


def main() -> None:
    """Measure both sides in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    add_option(parser)
    arguments = parser.parse_args()
    ours: dict[str, list[float]] = {name: [] for name in DATASETS}
    theirs: list[dict[str, float]] = []
    for _ in range(arguments.rounds):
        theirs.append(run_peer("disent", "data_disent.py", str(arguments.seconds)))
        for name, dataset in DATASETS.items():
            ours[name].append(measure(dataset, arguments.seconds))
    peer = label_of("disent")
    lines = [
        Comparison(
            what=setting,
            unit="images per second",
            peer=peer,
            theirs=[round_[setting] for round_ in theirs],
            ours=ours[setting.split(",")[0]],
        )
        for setting in theirs[0]
    ]
    tell(lines, arguments.json)


if __name__ == "__main__":
    main()
