"""Adaptive triplets without labels are as good as distances in the data are."""

import numpy as np
import pandas as pd

from unbraid.correlation import correlate
from unbraid.geometry import perceived_distances
from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Measured
from unbraid.reproductions._intervals import gain_of, mean_of
from unbraid.reproductions._michlo_runs import (
    SCORES,
    Numbers,
    above,
    best_of_sweeps,
    framework,
    is_squares,
    short_data,
)
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._score_panels import draw_score_panels
from unbraid.studies._opened import opened

_TRIPLETS, _BEFORE = "michlo-2022-a5-3", "michlo-2022-a4"


def measure(evidence: Evidence) -> Measured:
    """Scores against how well perceived distances follow factors; and beta-VAE's."""
    triplets = evidence.table(_TRIPLETS)
    kinds = list(triplets["data"].unique())
    follows = evidence.kept("follows", lambda: _follows(evidence, kinds))
    triplets = triplets.assign(follows=triplets["data"].map(follows))
    plain = framework(evidence.table(_BEFORE), "beta_vae")
    checks = []
    for score, called in SCORES.items():
        quantity = f"Ada-TVAE without labels: rank correlation of {called} and of how "
        quantity += "well perceived distances follow factors, over datasets"
        checks.append(above(quantity, mean_of(_agreements(triplets, score))))
    for score, called in SCORES.items():
        gain = gain_of(
            best_of_sweeps(plain[~is_squares(plain)], score),
            best_of_sweeps(triplets[~is_squares(triplets)], score),
        )
        quantity = f"{called} on common data: best of beta-VAE less best of Ada-TVAE "
        checks.append(above(f"{quantity}without labels", gain))
    return Measured(
        checks=checks,
        figure=draw_score_panels(_shown(triplets, plain), "method", SCORES),
        n_seeds=triplets["seed"].nunique(),
        remark="That training is more stable is said there too, but not of what.",
    )


def _follows(evidence: Evidence, kinds: list[str]) -> dict[str, float]:
    """Mean over factors of the rank correlation of perceived distances."""
    n_pairs = evidence.at(smoke=200, mini=10_000, paper=50_000)
    found = {}
    for data in kinds:
        loss = "mse-box" if data.startswith("xy_squares") else "mse"
        seen = perceived_distances(opened(data).dataset, loss, n_pairs=n_pairs)
        found[data] = float(np.mean([row.rank for row in seen.factors]))
    return found


def _agreements(triplets: pd.DataFrame, score: str) -> Numbers:
    """Rank correlation over datasets, for each seed and number of triplets."""
    if score not in triplets:
        return np.empty(0)
    known = triplets.dropna(subset=[score])
    return np.array(
        [
            correlate(
                part["follows"].to_numpy(), part[score].to_numpy(), kind="spearman"
            )
            for _, part in known.groupby(["objective.n_triplets", "seed"])
            if len(part) > 1
        ]
    )


def _shown(triplets: pd.DataFrame, plain: pd.DataFrame) -> pd.DataFrame:
    """All runs, with names in the order of how well distances follow factors."""
    ranked = triplets.sort_values("follows", kind="stable")
    rounded = ranked["follows"].map("{:.2f}".format)
    return pd.concat(
        [
            ranked.assign(method=short_data(ranked) + " (" + rounded + "), triplets"),
            plain.assign(method=short_data(plain) + ", beta-VAE"),
        ]
    )


CLAIM = Reproduction(
    name="michlo-figure-5-7",
    source="Michlo (2022), Figure 5.7",
    claim="Adaptive triplets that are put in order by how alike images look, without "
    "labels, disentangle the better the more such distances follow the factors, and "
    "less than beta-VAE at its best.",
    measure=measure,
    studies=(_TRIPLETS, _BEFORE),
)
