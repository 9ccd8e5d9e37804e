"""Seconds of the scores of embeddings with labels, next to disentanglement_lib 1.5.

The tables of `embeddings.py`: 5,000 rows of 64 codes with five labels, and 50,000 rows
of 10 codes with the factors of dSprites. Both sides get the same arrays. The peer knows
classes only, so that continuous labels are cut into ten classes of equal size for both.
It scores each metric once (its DCI takes minutes); ours is the median of
rounds, without intervals and levels, which the peer does not have. Its BetaVAE and
FactorVAE scores cannot be computed from a table and are left out of both sums. Both
sides learn DCI, SAP and explicitness from as many rows, up to 10,000, and test them on
half as many.

Run it on a machine that does nothing else:

    python benchmarks/embeddings_peer.py [--tables 5000x64 50000x10] [--rounds 3]
        [--rows N] [--json FILE]
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from comparison import Comparison, add_option, tell
from embeddings import TABLES
from peers import label_of, run_peer

import unbraid
from unbraid.metrics import Factors

CALLS = ("mig", "sap", "modularity, explicitness", "irs", "dci")
N_CLASSES = 10
MOST_TRAINED = 10_000


def read_table(name: str, n_rows: int | None) -> tuple[np.ndarray, Factors]:
    """Codes and factors of a table, with continuous factors cut into classes."""
    codes, factors = TABLES[name]()
    columns, kinds = [], []
    for column, kind in zip(factors.values.T, factors.kinds, strict=True):
        if kind == "continuous":
            cuts = np.quantile(column, np.arange(1, N_CLASSES) / N_CLASSES)
            column, kind = np.digitize(column, cuts), "ordinal"
        columns.append(np.unique(column, return_inverse=True)[1])
        kinds.append(kind)
    values = np.column_stack(columns)[:n_rows]
    return codes[:n_rows], Factors(values, names=factors.names, kinds=tuple(kinds))


def seconds(call: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    wall, processor = time.perf_counter(), sum(os.times()[:4])
    call()
    return time.perf_counter() - wall, sum(os.times()[:4]) - processor


def score(codes: np.ndarray, factors: Factors, metrics: str) -> unbraid.Scorecard:
    """Scores alone, in one process, as the peer computes them."""
    return unbraid.evaluate(
        codes,
        factors,
        metrics=metrics,
        intervals=False,
        levels=False,
        n_jobs=1,
        progress=False,
    )


def compare(table: str, n_rows: int | None, rounds: int) -> list[Comparison]:
    """Seconds of both sides on one table."""
    codes, factors = read_table(table, n_rows)
    n_train = min(MOST_TRAINED, 2 * len(codes) // 3)
    split = n_train, min(n_train // 2, len(codes) - n_train)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        labels = factors.values.astype(np.int64)
        np.savez(path, codes=codes, factors=labels, split=split)
        peer = run_peer("dlib", "embeddings_dlib.py", str(path))
    score(codes[:100], factors.at(np.arange(100)), ",".join(CALLS))  # imports
    ours = [
        {name: seconds(lambda n=name: score(codes, factors, n)) for name in CALLS}
        for _ in range(rounds)
    ]
    theirs = {name: tuple(peer["times"][name]) for name in CALLS}
    for times in (theirs, *ours):
        times["all"] = tuple(map(sum, zip(*times.values(), strict=True)))
    card = score(codes, factors, ",".join(CALLS))
    values = {name: round(float(value), 4) for name, value in card.items()}
    print(f"{table}, scores: theirs {peer['scores']}, ours {values}")
    return [
        Comparison(
            what=f"{table}: {name}",
            unit=unit,
            peer=label_of("dlib"),
            theirs=[theirs[name][clock]],
            # Processor time is counted in hundredths of a second.
            ours=[max(times[name][clock], 0.01) for times in ours],
            note="" if n_rows is None else f"the first {n_rows} rows",
        )
        for clock, unit in enumerate(("seconds", "processor seconds"))
        for name in (*CALLS, "all")
    ]


def main() -> None:
    """Compare the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, help="first rows only, for a quick try")
    add_option(parser)
    options = parser.parse_args()
    for table in options.tables:
        tell(compare(table, options.rows, options.rounds), options.json)


if __name__ == "__main__":
    main()
