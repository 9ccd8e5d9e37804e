"""Images per second of the batch stream, side by side with disent's DataLoader.

Same datasets (XYSquares and XYObject, 64x64x3), same batch (256 float32 images on the
CPU, drawn at random), both sides in turn, medians over rounds. The peer is measured
without workers and with two, and the better of the two counts.

    python benchmarks/data.py [--rounds 5] [--seconds 3]
"""

import argparse
import statistics
import time

import torch
from peers import run_peer

from unbraid.data import AbstractDataset, BatchStream, XYObject, XYSquares

DATASETS = {"xy_squares": XYSquares(), "xy_object": XYObject()}


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
    arguments = parser.parse_args()
    ours: dict[str, list[float]] = {name: [] for name in DATASETS}
    theirs: dict[str, list[float]] = {name: [] for name in DATASETS}
    for _ in range(arguments.rounds):
        rates = run_peer("disent", "data_disent.py", str(arguments.seconds))
        for name, dataset in DATASETS.items():
            ours[name].append(measure(dataset, arguments.seconds))
            theirs[name].append(max(rates[f"{name}, {n} workers"] for n in (0, 2)))
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, batch 256")
    print(
        f"{'dataset':<12}{'disent 0.8.0':>14}{'unbraid':>12}{'ratio':>8}{'range':>16}"
    )
    for name in DATASETS:
        ratios = [a / b for a, b in zip(ours[name], theirs[name], strict=True)]
        print(
            f"{name:<12}{statistics.median(theirs[name]):>14,.0f}"
            f"{statistics.median(ours[name]):>12,.0f}"
            f"{statistics.median(ratios):>8.1f}"
            f"{min(ratios):>9.1f} -{max(ratios):>5.1f}"
        )


if __name__ == "__main__":
    main()
