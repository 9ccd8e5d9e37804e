"""Peak memory of an evaluation of a table with as many rows as dSprites.

    python benchmarks/evaluate_memory.py [--metrics all] [--intervals] [--rows 737280]

Run it in a fresh process: the peak is that of the whole process, and the table and its
factors are there before the evaluation begins.
"""

import argparse
import resource
import time

import numpy as np

import unbraid
from unbraid.data import FactorSpace
from unbraid.metrics import Factors

SPACE = FactorSpace(("shape", "scale", "orientation", "x", "y"), (3, 6, 40, 32, 32))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--metrics", default="all")
    parser.add_argument("--intervals", action="store_true")
    parser.add_argument("--rows", type=int, default=SPACE.size)
    arguments = parser.parse_args()
    codes, factors = table(arguments.rows)
    before, start = peak(), time.perf_counter()
    unbraid.evaluate(
        codes,
        factors,
        metrics=arguments.metrics,
        intervals=arguments.intervals,
        n_jobs=1,
        progress=False,
    )
    seconds = time.perf_counter() - start
    print(
        f"{len(codes):,} x {codes.shape[1]} codes ({codes.nbytes / 2**20:.0f} MiB): "
        f"{before:.0f} MiB before, {peak():.0f} MiB at the peak, {seconds:.0f} s"
    )


def table(n_rows: int) -> tuple[np.ndarray, Factors]:
    """Noisy copies of the factors, and as many latents of noise."""
    generator = np.random.default_rng(0)
    values = SPACE.factors(np.arange(n_rows))
    codes = 0.1 * generator.standard_normal((n_rows, 2 * SPACE.n_factors))
    codes[:, : SPACE.n_factors] += values
    codes[:, SPACE.n_factors :] *= 10.0
    factors = Factors(values, names=SPACE.names)
    assert factors.labels.shape == values.shape  # cached before anything is measured
    return codes, factors


def peak() -> float:
    """Largest memory that this process ever had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
