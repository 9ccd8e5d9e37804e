"""Seconds to rank models by agreement, next to a scikit-learn lasso for each pair.

The peer is how disentanglement_lib goes about it: for each ordered pair of models, one
fit of scikit-learn's Lasso for all latents, or one rank correlation for each two
latents. It is timed on some pairs, and multiplied; ours is timed on all. Models are one
set of factors under rotations from none to random, with noise.

    python benchmarks/udr.py [--models 200] [--latents 10] [--rows 1000] [--pairs 50]
        [--rounds 3] [--json FILE]
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from comparison import Comparison, add_option, tell
from scipy.stats import spearmanr
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

from unbraid.foundation import numpy_generator
from unbraid.selection import unsupervised_disentanglement_ranking


def constructed(n_models: int, n_latents: int, n_rows: int) -> list[np.ndarray]:
    """Codes of models, every fifth aligned with the factors."""
    generator = numpy_generator(0, "udr")
    factors = generator.standard_normal((n_rows, n_latents))
    models = []
    for k in range(n_models):
        mixing = np.eye(n_latents) + 0.3 * (k % 5) * generator.standard_normal(
            (n_latents, n_latents)
        )
        noise = 0.1 * generator.standard_normal(factors.shape)
        models.append(factors @ np.linalg.qr(mixing)[0] + noise)
    return models


def seconds(work: Callable[[], Any]) -> float:
    """How long something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def one_lasso(first: np.ndarray, second: np.ndarray) -> None:
    """Weights of one ordered pair."""
    Lasso(alpha=0.1).fit(first, second)


def all_ranks(first: np.ndarray, second: np.ndarray) -> None:
    """Rank correlations of one ordered pair."""
    for a in first.T:
        for b in second.T:
            spearmanr(a, b)


PEERS = {
    "lasso": (f"scikit-learn {sklearn.__version__}", one_lasso),
    "spearman": (f"scipy {scipy.__version__}", all_ranks),
}


def compare(
    models: list[np.ndarray], similarity: str, n_pairs: int, rounds: int
) -> list[Comparison]:
    """Both formulas of ours against all pairs of the peer, estimated from some."""
    peer, of_pair = PEERS[similarity]
    scaled = [StandardScaler().fit_transform(codes) for codes in models]
    chosen = numpy_generator(0, "pairs").integers(0, len(models), (n_pairs, 2))
    n_all = len(models) * (len(models) - 1)
    theirs: list[float] = []
    ours: dict[str, list[float]] = {"dlib": [], "paper": []}
    for _ in range(rounds):
        sample = seconds(lambda: [of_pair(scaled[i], scaled[j]) for i, j in chosen])
        theirs.append(sample / n_pairs * n_all)
        for formula, times in ours.items():
            options = {"similarity": similarity, "formula": formula}
            rank = partial(unsupervised_disentanglement_ranking, models, **options)
            times.append(seconds(rank))
    return [
        Comparison(
            what=f"{len(models)} models by {similarity}, formula `{formula}`",
            unit="seconds",
            peer=peer,
            theirs=theirs,
            ours=times,
        )
        for formula, times in ours.items()
    ]


def main() -> None:
    """Time both and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--latents", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=50, help="of the peer")
    parser.add_argument("--rounds", type=int, default=3)
    add_option(parser)
    arguments = parser.parse_args()
    models = constructed(arguments.models, arguments.latents, arguments.rows)
    lines = [
        line
        for similarity in PEERS
        for line in compare(models, similarity, arguments.pairs, arguments.rounds)
    ]
    tell(lines, arguments.json)
    rank = unsupervised_disentanglement_ranking
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "udr.npz"
        rank(models[:-1], cache=cache)
        added = seconds(lambda: rank(models, cache=cache))
    print(f"one model more, the pairs of the others kept: {added:.2f} s")


if __name__ == "__main__":
    main()
