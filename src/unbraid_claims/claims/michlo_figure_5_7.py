"""Adaptive triplets without labels depend on distances in the data."""

import numpy as np
import pandas as pd

from unbraid.data import open_cached
from unbraid.foundation import correlate
from unbraid.perception import perceived_distances
from unbraid_claims import Claim, Evidence, Measured, above, gain_of, mean_of
from unbraid_claims._michlo_runs import (
    SCORES,
    Numbers,
    best_of_sweeps,
    framework,
    on_common,
    scores_of,
    short_data,
)
from unbraid_claims._score_panels import draw_score_panels
from unbraid_claims._tables import groups_of, numbers_of

_TRIPLETS, _BEFORE = "michlo-2022-a5-3", "michlo-2022-a4"


def measure(evidence: Evidence) -> Measured:
    """Compare scores with how well perceived distances follow the factors."""
    triplets = evidence.table(_TRIPLETS)
    kinds = triplets["data"].unique().tolist()
    follows = evidence.cached("follows", lambda: _follows(evidence, kinds))
    triplets = triplets.assign(follows=[follows[data] for data in triplets["data"]])
    plain = framework(evidence.table(_BEFORE), "beta_vae")
    checks = []
    for score, called in SCORES.items():
        quantity = f"Ada-TVAE without labels: rank correlation of {called} and of how "
        quantity += "well perceived distances follow factors, over datasets"
        checks.append(above(quantity, mean_of(_agreements(triplets, score))))
    for score, called in SCORES.items():
        gain = gain_of(
            best_of_sweeps(on_common(plain), score),
            best_of_sweeps(on_common(triplets), score),
        )
        quantity = f"{called} on common data: best of beta-VAE less best of Ada-TVAE "
        checks.append(above(f"{quantity}without labels", gain))
    return Measured(
        checks=checks,
        figure=draw_score_panels(_shown(triplets, plain), "method", SCORES),
        n_seeds=len(set(triplets["seed"])),
        remark="That training is more stable is said there too, but not of what.",
    )


def _follows(evidence: Evidence, kinds: list[str]) -> dict[str, float]:
    """Return the mean rank correlation of perceived distances over factors."""
    n_pairs = evidence.at(smoke=200, mini=10_000, paper=50_000)
    found = {}
    for data in kinds:
        loss = "mse-box" if data.startswith("xy_squares") else "mse"
        seen = perceived_distances(open_cached(data).dataset, loss, n_pairs=n_pairs)
        found[data] = float(np.mean([row.rank for row in seen.factors]))
    return found


def _agreements(triplets: pd.DataFrame, score: str) -> Numbers:
    """Return the rank correlation over datasets, per seed and number of triplets."""
    parts = groups_of(triplets, ["objective.n_triplets", "seed"]).values()
    return np.array(
        [
            correlate(numbers_of(part, "follows"), scores, kind="spearman")
            for part in parts
            if (scores := scores_of(part, score)).size == len(part) > 1
        ]
    )


def _shown(triplets: pd.DataFrame, plain: pd.DataFrame) -> pd.DataFrame:
    """Draw all runs, ordered by how well distances follow the factors."""
    ranked = triplets.sort_values("follows", kind="stable")
    names = [
        f"{kind} ({rank:.2f}), triplets"
        for kind, rank in zip(
            short_data(ranked), numbers_of(ranked, "follows"), strict=True
        )
    ]
    return pd.concat(
        [
            ranked.assign(method=names),
            plain.assign(method=[f"{kind}, beta-VAE" for kind in short_data(plain)]),
        ]
    )


CLAIM = Claim(
    name="michlo-figure-5-7",
    source="Michlo (2022), Figure 5.7",
    text="Adaptive triplets that are put in order by how alike images look, without "
    "labels, disentangle the better the more such distances follow the factors, and "
    "less than beta-VAE at its best.",
    measure=measure,
    studies=(_TRIPLETS, _BEFORE),
)
