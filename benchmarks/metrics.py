"""Seconds of the standard metrics, side by side with disentanglement_lib 1.5.

Three parts, all of them when not told otherwise:

- speed: both sides on the same 10,000 + 5,000 rows of 10 codes over the factors of
  dSprites, five of them a factor plus noise. The peer once (its DCI takes minutes),
  ours as the median of rounds; nobody's threads are restricted.
- images: how many images of Sprites2D an evaluation encodes. The peer draws fresh ones
  for every metric; ours encodes a random part of the grid once and scores that. Takes
  the count of the peer from the first part.
- growth: seconds of every metric that takes at most a few, at 10,000, 100,000 and
  1,000,000 rows.

    python benchmarks/metrics.py [--parts speed images growth] [--rounds 5]
        [--json FILE]
"""

import argparse
import math
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from comparison import Comparison, add_option, tell
from peers import label_of, run_peer

import unbraid
from unbraid.data import FactorSpace, Sprites2D
from unbraid.foundation import numpy_generator
from unbraid.metrics import METRICS, Factors

SPACE = FactorSpace(
    ("shape", "scale", "orientation", "position_x", "position_y"),
    (3, 6, 40, 32, 32),
    ("categorical", "ordinal", "cyclic", "ordinal", "ordinal"),
)
N_LATENTS = 10
# As the peer measures them: two scores by one function.
CALLS = ("beta_vae_score", "factor_vae_score", "mig", "dci", "sap",
         "modularity, explicitness", "irs")  # fmt: skip
ENCODED_ROWS = 50_000
SIZES = (10_000, 100_000, 1_000_000)
CHEAP = 3.0
"""Seconds in the catalogue up to which a metric is measured for growth."""


def grid_codes() -> np.ndarray:
    """Codes of the whole grid: each factor with noise, and five latents of noise."""
    noise = numpy_generator(0, "noise").standard_normal((SPACE.size, N_LATENTS))
    codes = 0.01 * noise
    factors = SPACE.factors(np.arange(SPACE.size))
    k = SPACE.n_factors
    codes[:, :k] = 2.0 * factors / (np.array(SPACE.sizes) - 1) - 1.0
    codes[:, :k] += 0.3 * noise[:, :k]
    return codes


def random_rows(n_rows: int) -> np.ndarray:
    """Rows of the grid, with replacement."""
    return numpy_generator(0, "rows", n_rows).integers(0, SPACE.size, n_rows)


def factors_of(rows: np.ndarray) -> Factors:
    """Factors of rows of the grid."""
    return Factors(SPACE.factors(rows), names=SPACE.names, kinds=SPACE.kinds)


def seconds(call: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - processor


def score(codes: np.ndarray, factors: Factors, metrics: str) -> unbraid.Scorecard:
    """Scores alone, without intervals and levels."""
    return unbraid.evaluate(
        codes, factors, metrics=metrics, intervals=False, levels=False, progress=False
    )


def compare_speed(
    grid: np.ndarray, rounds: int
) -> tuple[list[Comparison], dict[str, int]]:
    """Seconds of both sides, and the images that the peer encodes."""
    rows = random_rows(15_000)
    codes, factors = grid[rows], factors_of(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        labels = SPACE.factors(rows)
        np.savez(path, codes=codes, factors=labels, grid=grid, sizes=SPACE.sizes)
        peer = run_peer("dlib", "metrics_dlib.py", str(path))
    score(codes[:1000], factors.at(np.arange(1000)), "standard")  # imports
    ours = [
        {name: seconds(partial(score, codes, factors, name)) for name in CALLS}
        for _ in range(rounds)
    ]
    theirs = {name: tuple(peer["times"][name]) for name in CALLS}
    for times in (theirs, *ours):
        times["all"] = tuple(map(sum, zip(*times.values(), strict=True)))
    label = label_of("dlib")
    lines = [
        Comparison(
            what=name,
            unit=unit,
            peer=label,
            theirs=[theirs[name][clock]],
            ours=[times[name][clock] for times in ours],
        )
        for clock, unit in enumerate(("seconds", "processor seconds"))
        for name in ((*CALLS, "all") if unit == "seconds" else ("all",))
    ]
    return lines, peer["images"]


def untrained_encoder() -> torch.nn.Module:
    """The convolutional encoder of the published studies, 64x64 to 10 codes."""
    torch.manual_seed(0)
    widths = (1, 32, 32, 64, 64)
    layers = []
    for before, after in zip(widths[:-1], widths[1:], strict=True):
        layers += [torch.nn.Conv2d(before, after, 4, 2, 1), torch.nn.ReLU()]
    head = (torch.nn.Linear(64 * 4 * 4, 256), torch.nn.ReLU())
    return torch.nn.Sequential(
        *layers, torch.nn.Flatten(), *head, torch.nn.Linear(256, N_LATENTS)
    )


def count_images(grid: np.ndarray, peer_images: dict[str, int]) -> list[Comparison]:
    """Images encoded by both sides; prints seconds of ours end to end."""
    sprites, encoder = Sprites2D(), untrained_encoder()
    n_encoded = 0

    def counting(images: torch.Tensor) -> torch.Tensor:
        nonlocal n_encoded
        n_encoded += len(images)
        return encoder(images)

    generator = numpy_generator(0, "encoded")
    rows = generator.choice(len(sprites), ENCODED_ROWS, replace=False)
    start = time.perf_counter()
    codes = unbraid.encode(counting, sprites, rows=rows, progress=False)
    middle = time.perf_counter()
    unbraid.evaluate(codes, intervals=False, levels=False, progress=False)
    end = time.perf_counter()
    print(
        f"{n_encoded:,} of the {len(sprites):,} images in the grid: "
        f"{middle - start:.0f} s to encode, {end - middle:.0f} s to score"
    )
    names = "beta_vae_score,factor_vae_score,mig,sap,modularity,explicitness,irs"
    part = score(grid[rows], factors_of(rows), names)
    whole = score(grid, factors_of(np.arange(SPACE.size)), names)
    for name in whole:
        print(f"  {name:<20} part {part[name]:.4f}, whole grid {whole[name]:.4f}")
    if not peer_images:
        return []
    return [
        Comparison(
            what="images encoded by an evaluation",
            unit="images",
            peer=label_of("dlib"),
            theirs=[sum(peer_images.values())],
            ours=[n_encoded],
            note=f"counted, not timed; the whole grid has {len(sprites):,}",
        )
    ]


def measure_growth(grid: np.ndarray) -> None:
    """Print seconds by the number of rows."""
    names = [name for name, metric in METRICS.items() if metric.seconds <= CHEAP]
    times: dict[str, list[float]] = {name: [] for name in names}
    for n_rows in SIZES:
        rows = random_rows(n_rows)
        codes, factors = grid[rows], factors_of(rows)
        score(codes, factors, "mig")  # labels are made once for all metrics
        for name in names:
            call = partial(score, codes, factors, name)
            times[name].append(min(seconds(call)[1] for _ in range(3)))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{n_rows:>10,} rows: at most {peak:.1f} GiB in memory so far")
    head = "".join(f"{size:>12,}" for size in SIZES)
    print(f"{'cpu seconds':<28}{head}{'exponents':>18}")
    for name, row in times.items():
        powers = [math.log10(b / a) for a, b in zip(row[:-1], row[1:], strict=True)]
        numbers = "".join(f"{value:>12.3f}" for value in row)
        print(f"{name:<28}{numbers}" + "".join(f"{power:>9.2f}" for power in powers))


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = ("speed", "images", "growth")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--rounds", type=int, default=5)
    add_option(parser)
    arguments = parser.parse_args()
    grid = grid_codes()
    lines, images = [], {}
    if "speed" in arguments.parts:
        lines, images = compare_speed(grid, arguments.rounds)
    if "images" in arguments.parts:
        lines += count_images(grid, images)
    if lines:
        tell(lines, arguments.json)
    if "growth" in arguments.parts:
        measure_growth(grid)


if __name__ == "__main__":
    main()
