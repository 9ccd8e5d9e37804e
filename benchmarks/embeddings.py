"""Wall and processor time of the standard scores of embeddings with labels.

Two tables, as an owner of an encoder would have them: 5,000 rows of 64 codes with five
labels of a CSV file, and 50,000 rows of 10 codes with the factors of dSprites. Each
is scored as `unbraid.evaluate(codes, factors)` does by default, with all intervals, and
without intervals and levels. Kinds are declared, so that all versions of unbraid do
the same work. Processor time includes that of worker processes. The values are
printed as well: they must not depend on the version.

    python benchmarks/embeddings.py [--tables 5000x64 50000x10] [--rounds 3]
        [--settings default intervals values] [--json FILE]
"""

import argparse
import json
import os
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import unbraid
from unbraid.metrics import Factors

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "intervals": {"intervals": True, "levels": True},
    "values": {"intervals": False, "levels": False},
}


def labels_of_a_csv(n_rows: int) -> tuple[np.ndarray, Factors]:
    """64 codes that mix five labels: two categories, an age, an hour and a size."""
    generator = np.random.default_rng(0)
    values = np.column_stack(
        [
            generator.integers(0, 8, n_rows),
            generator.integers(0, 5, n_rows),
            generator.integers(18, 91, n_rows),
            generator.integers(0, 24, n_rows),
            generator.normal(size=n_rows),
        ]
    )
    kinds = ("categorical", "categorical", "continuous", "cyclic", "continuous")
    names = ("species", "color", "age", "hour", "size")
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    mixing = generator.normal(size=(5, 64)) * (generator.random((5, 64)) < 0.3)
    codes = scaled @ mixing + 0.5 * generator.normal(size=(n_rows, 64))
    return codes, Factors(values, names=names, kinds=kinds)


def rows_of_dsprites(n_rows: int) -> tuple[np.ndarray, Factors]:
    """Ten codes: each factor of dSprites plus noise, and five of noise alone."""
    generator = np.random.default_rng(0)
    sizes = np.array([3, 6, 40, 32, 32])
    values = generator.integers(0, sizes, (n_rows, 5))
    codes = 0.3 * generator.normal(size=(n_rows, 10))
    codes[:, :5] += 2 * values / (sizes - 1) - 1
    names = ("shape", "scale", "orientation", "position_x", "position_y")
    kinds = ("categorical", "ordinal", "cyclic", "ordinal", "ordinal")
    return codes, Factors(values, names=names, kinds=kinds)


TABLES = {
    "5000x64": lambda: labels_of_a_csv(5_000),
    "50000x10": lambda: rows_of_dsprites(50_000),
}


def processor_seconds() -> float:
    """Processor time of this process and of all children that have ended."""
    return sum(os.times()[:4])


def measure(table: str, setting: str) -> tuple[float, float, dict[str, float]]:
    """Wall seconds, processor seconds and values, in a process of its own."""
    codes, factors = TABLES[table]()
    unbraid.evaluate(codes[:100], factors.at(np.arange(100)), metrics="mig")  # imports
    wall, processor = time.perf_counter(), processor_seconds()
    card = unbraid.evaluate(codes, factors, progress=False, **SETTINGS[setting])
    wall = time.perf_counter() - wall
    _end_workers()
    return wall, processor_seconds() - processor, {k: float(v) for k, v in card.items()}


def _end_workers() -> None:
    """End joblib's idle workers, so that their processor time is counted."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument(
        "--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS)
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = {}
    for table in options.tables:
        for setting in options.settings:
            runs = [measure(table, setting) for _ in range(options.rounds)]
            wall, processor = (median(run[i] for run in runs) for i in (0, 1))
            results[f"{table} {setting}"] = {
                "wall": [run[0] for run in runs],
                "processor": [run[1] for run in runs],
                "values": runs[0][2],
            }
            print(f"{table} {setting}: {wall:.1f} s wall, {processor:.1f} s processor")
            if options.json:
                options.json.write_text(json.dumps(results, indent=2))
    for name, result in results.items():
        shown = ", ".join(f"{k} {v:.4f}" for k, v in result["values"].items())
        print(f"{name}: {shown}")


if __name__ == "__main__":
    main()
