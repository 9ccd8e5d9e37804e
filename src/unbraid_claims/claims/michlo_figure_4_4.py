"""Latent distances follow perceived ones, and frameworks differ only in the axes."""

import pandas as pd

from unbraid.data import open_cached
from unbraid.metrics import latent_data_correlation
from unbraid.representation import encode
from unbraid.training import load
from unbraid_claims import Check, Claim, Evidence, Measured, above, mean_of
from unbraid_claims._michlo_runs import (
    FRAMEWORKS,
    Numbers,
    framework,
    frameworks_of,
    on_common,
    paired_gains,
    scores_of,
    short_data,
    with_active_latents,
)
from unbraid_claims._score_panels import draw_score_panels

_STUDY = "michlo-2022-a4"
_PERCEIVED = "score.latent_data_correlation"
_FACTORS = "score.distance_correlation"
_SHOWN = {
    _PERCEIVED: "latent and perceived",
    _FACTORS: "latent and factors",
    "score.linearity": "linearity",
    "score.axis_alignment": "axis alignment",
}
_LIKE = ("data", "objective.beta", "training.learning_rate", "seed")
# The source says "almost perfectly" and "almost identical"; these are our bounds.
_ALMOST_ONE, _ALMOST_ZERO = 0.8, 0.1


def measure(evidence: Evidence) -> Measured:
    """Measure scores on common data and differences of frameworks."""
    everything = evidence.table(_STUDY)
    found = evidence.cached("latent_data", lambda: _latent_data(evidence))
    table = everything.assign(**{_PERCEIVED: [found[run] for run in everything["id"]]})
    # All distances along a factor of XYSquares are alike: there is no order to follow.
    common = with_active_latents(on_common(table))
    checks = [_level(common, name) for name in FRAMEWORKS]
    for score in (_PERCEIVED, _FACTORS):
        checks.append(_sameness(common, score))
    for score in ("score.linearity", "score.axis_alignment"):
        quantity = f"common data: {_SHOWN[score]} of Ada-GVAE less that of beta-VAE, "
        checks.append(
            above(f"{quantity}same beta and seed", mean_of(_gains(common, score)))
        )
    shown = table.assign(kind=short_data(table), framework=frameworks_of(table))
    figure = draw_score_panels(shown, ["kind", "framework"], _SHOWN)
    remark = "Runs without an active latent are left out, as in the source."
    return Measured(checks=checks, figure=figure, remark=remark)


def _level(common: pd.DataFrame, name: str) -> Check:
    levels = scores_of(framework(common, name), _PERCEIVED)
    return above(
        f"{FRAMEWORKS[name]}, common data: rank correlation of latent and perceived "
        "distances, mean over beta",
        mean_of(levels),
        _ALMOST_ONE,
    )


def _sameness(common: pd.DataFrame, score: str) -> Check:
    value, interval = mean_of(_gains(common, score))
    return Check(
        quantity=f"common data: correlation of {_SHOWN[score]} distances of Ada-GVAE "
        "less that of beta-VAE, same beta and seed",
        expected=f"within {_ALMOST_ZERO}",
        value=value,
        interval=interval,
        least=-_ALMOST_ZERO,
        most=_ALMOST_ZERO,
    )


def _gains(common: pd.DataFrame, score: str) -> Numbers:
    return paired_gains(
        common,
        score,
        column="objective.name",
        better="ada_gvae",
        worse="beta_vae",
        like=_LIKE,
    )


def _latent_data(evidence: Evidence) -> dict[str, float]:
    """Return the rank correlation of latent and perceived distances of each run."""
    n_pairs = evidence.at(smoke=500, mini=2**14, paper=2**17)
    found = {}
    for cell in evidence.cells(_STUDY):
        dataset = open_cached(cell.spec.data).dataset
        codes = encode(load(cell.files.path), dataset, progress=False)
        images = dataset.images(codes.rows)
        score = latent_data_correlation(
            codes.codes, codes.factors, images, n_pairs=n_pairs
        )
        found[cell.id] = float(score)
    return found


CLAIM = Claim(
    name="michlo-figure-4-4",
    source="Michlo (2022), Figure 4.4",
    text="Latent distances of beta-VAE and Ada-GVAE follow perceived distances almost "
    "perfectly and to the same degree; Ada-GVAE differs in that its codes are more "
    "linear and more along the axes.",
    measure=measure,
    studies=(_STUDY,),
)
