"""What it costs to compare how networks learn: seconds and peak memory.

Activations of 50 slices, 500 observations and 256 units, for a number of realisations,
are compared by ``training_dynamics`` in a process of its own. The peak is that of the
whole process, with Python, torch and the activations themselves.

    python benchmarks/dynamics.py [--realisations 5] [--rounds 3] [--threads 2]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

SHAPE = (50, 500, 256)


def learning(seed: int) -> np.ndarray:
    """Activations that turn from one random layer of four factors into another."""
    n_slices, n_observations, n_units = SHAPE
    factors = np.random.default_rng(0).uniform(-1, 1, (n_observations, 4))
    generator = np.random.default_rng([1, seed])
    first, last = generator.normal(size=(2, 4, n_units))
    offsets = generator.normal(size=n_units)
    activations = np.empty(SHAPE, np.float32)
    for place in range(n_slices):
        share = 1 - np.exp(-place / 15)
        weights = 0.3 * (1 - share) * first + 2.0 * share * last
        activations[place] = np.maximum(factors @ weights + offsets, 0)
    return activations


def measure(n_realisations: int) -> None:
    """Print what one comparison takes, as a line of JSON."""
    from unbraid.selection import training_dynamics

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3

    imported = peak()
    traces = [learning(seed) for seed in range(n_realisations)]
    start, processor = time.perf_counter(), time.process_time()
    result = training_dynamics(traces)
    line = {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - processor,
        "imported": imported,
        "peak": peak(),
        "score": result.score,
        "residual": result.residual,
    }
    print(json.dumps(line))


def main() -> None:
    """Measure a few times and print each of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--realisations", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        measure(arguments.realisations)
        return
    threads = {"OMP_NUM_THREADS": str(arguments.threads)}
    command = [sys.executable, __file__, "--once"]
    command += ["--realisations", str(arguments.realisations)]
    for _ in range(arguments.rounds):
        load = os.getloadavg()[0]
        done = subprocess.run(
            command, env=os.environ | threads, check=True, capture_output=True
        )
        line = json.loads(done.stdout)
        print(
            f"{arguments.realisations} realisations, {arguments.threads} threads, load "
            f"{load:.1f}: {line['seconds']:.1f} s ({line['cpu']:.1f} s of processor), "
            f"peak {line['peak']:.0f} MB ({line['imported']:.0f} MB of it imports), "
            f"score {line['score']:.2e}, residual {line['residual']:.0e}"
        )


if __name__ == "__main__":
    main()
