"""Claims of the dissertation on tables made by hand: each can hold, and can fail."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unbraid.data import open_dataset
from unbraid.perception import learn_loss
from unbraid_claims import CLAIMS, study_of

SPRITES = "sprites2d:image_size=16"
ROOM = "room3d:image_size=16"
SQUARES = "xy_squares:image_size=8,square_size=2"
FRAMEWORKS = ["beta_vae", "ada_gvae"]
SCORES = (
    "mig",
    "dci_disentanglement",
    "axis_alignment",
    "linearity",
    "distance_correlation",
)


class HandMade:
    """Evidence of tables and results that are given."""

    def __init__(self, tables: dict[str, pd.DataFrame], kept: dict[str, Any]) -> None:
        self._tables, self._kept = tables, kept

    def at(self, *, smoke: Any, mini: Any, paper: Any) -> Any:
        return mini

    def table(self, name: str) -> pd.DataFrame:
        return self._tables[name]

    def cached(self, name: str, compute: Callable[[], Any]) -> Any:
        return self._kept[name]


def runs(level: Callable[[dict[str, Any]], float], **settings: list) -> pd.DataFrame:
    """Runs with every combination of settings, and one level for all scores."""
    rows = []
    for values in itertools.product(*settings.values(), range(4)):
        names = [name.replace("__", ".") for name in settings]
        row = dict(zip([*names, "seed"], values, strict=True))
        noise = 0.01 * np.sin(7 * row["seed"] + len(rows))
        scores = {f"score.{name}": level(row) + noise for name in SCORES}
        rows.append(row | scores | {"id": str(len(rows)), "final.active_latents": 9})
    return pd.DataFrame(rows)


def frameworks(level: Callable[[dict[str, Any]], float], **settings) -> pd.DataFrame:
    return runs(level, objective__name=FRAMEWORKS, **settings)


def figure_3_7(gain: float) -> HandMade:
    table = frameworks(
        lambda run: 0.5 + gain * (run["data"] != SQUARES),
        objective__beta=[0.001, 0.01],
        data=[SPRITES, ROOM, SQUARES],
    )
    return HandMade({"michlo-2022-a3-1": table}, {})


def figure_3_10(gain: float) -> HandMade:
    table = frameworks(
        lambda run: 0.5 - 0.2 * gain * int(run["data"][-1]),
        objective__beta=[0.00316],
        data=[f"xy_squares:image_size=16,spacing={spacing}" for spacing in (4, 2, 1)],
    )
    return HandMade({"michlo-2022-a3-2": table}, {})


def figure_3_12(gain: float) -> HandMade:
    return HandMade({"michlo-2022-a3-3": _losses(gain, ["gaussian", "box"])}, {})


def figure_4_4(gain: float) -> HandMade:
    table = frameworks(
        lambda run: 0.5 + gain * (run["objective.name"] == "ada_gvae"),
        objective__beta=[0.001, 0.01],
        data=[SPRITES, SQUARES],
    )
    # The same for both frameworks, as the claim has it; high only where it holds.
    table["score.distance_correlation"] = 0.6 + 0.01 * table["seed"]
    latent_data = dict.fromkeys(table["id"], 0.75 + gain)
    return HandMade({"michlo-2022-a4": table}, {"latent_data": latent_data})


def figure_5_1(gain: float) -> HandMade:
    triplets = runs(
        lambda run: 0.5 + gain * (2 - run["objective.p"]) + gain,
        data=[SQUARES],
        objective__p=[1, 2],
        objective__margin_kind=["soft", "hard"],
    )
    return HandMade({"michlo-2022-a5-1": triplets, "michlo-2022-a4": _before()}, {})


def figure_5_3(gain: float) -> HandMade:
    table = runs(
        lambda run: 0.5,
        data=[SQUARES],
        objective__p=[1, 2],
        objective__margin_kind=["soft", "hard"],
        objective__decoder_gradient=[True, False],
    )
    lowest = {}
    for run in table.to_dict("records"):
        is_hard = run["objective.margin_kind"] == "hard"
        # With the decoder's gradient both are alike where the claim holds.
        has_effect = not run["objective.decoder_gradient"] or gain < 0
        change = -5 * gain if is_hard and has_effect and run["objective.p"] == 1 else 0
        lowest[run["id"]] = float(np.exp(0.01 * run["seed"] + change))
    return HandMade({"michlo-2022-a5-1": table}, {"lowest": lowest})


def figure_5_4(gain: float) -> HandMade:
    plain = runs(
        # Only the runs with the loss of Ada-TVAE are to be compared with.
        lambda run: 0.5 if run["objective.p"] == 1 else 0.5 + 2 * gain,
        data=[SQUARES],
        objective__p=[1, 2],
        objective__margin_kind=["hard"],
        objective__decoder_gradient=[True],
    )
    tables = {"michlo-2022-a5-2": _adaptive(gain), "michlo-2022-a5-1": plain}
    return HandMade(tables, {})


def figure_5_5(gain: float) -> HandMade:
    tables = {"michlo-2022-a5-2": _adaptive(gain), "michlo-2022-a4": _before()}
    return HandMade(tables, {})


def figure_5_7(gain: float) -> HandMade:
    follows = {ROOM: 0.3, SPRITES: 0.6, SQUARES: 0.9}
    triplets = runs(
        lambda run: 0.5 + gain * (follows[run["data"]] - 1),
        data=list(follows),
        objective__n_triplets=[512, 1024],
    )
    before = frameworks(
        lambda run: 0.5 + gain, data=list(follows), objective__beta=[0.001, 0.01]
    )
    tables = {"michlo-2022-a5-3": triplets, "michlo-2022-a4": before}
    return HandMade(tables, {"follows": follows})


def figure_6_4(gain: float) -> HandMade:
    before = _losses(0.0, ["gaussian", "box"])
    learnt = _losses(gain, ["blur", "learnt"])
    learnt["id"] = "again " + learnt["id"]
    tables = {"michlo-2022-a3-3": before, "michlo-2022-a6-learnt": learnt}
    return HandMade(tables, {})


def figure_7_3(gain: float) -> HandMade:
    table = frameworks(
        lambda run: 0.5 + gain * ("shaded" in run["data"]),
        objective__beta=[0.001, 0.01],
        data=["xy_object:spacing=2", "xy_object_shaded:spacing=2"],
    )
    return HandMade({"michlo-2022-a7-1": table}, {})


def figure_7_6(gain: float) -> HandMade:
    table = frameworks(
        lambda run: 0.5 - gain * int(run["data"].split("=")[-1]) / 100,
        objective__beta=[0.01],
        data=[
            f'picture_sprites:sprites="{SPRITES}",where={where},visibility={percent}'
            for where in ("inside", "behind")
            for percent in (0, 50, 100)
        ],
    )
    return HandMade({"michlo-2022-a7-2": table}, {})


def _before() -> pd.DataFrame:
    """beta-VAE and Ada-GVAE, some of which learnt nothing and scored for that."""
    table = frameworks(
        lambda run: 0.5 if run["objective.beta"] < 1 else 9.0,
        objective__beta=[0.01, 1.0],
        data=[SQUARES, ROOM],
    )
    table.loc[table["objective.beta"] == 1.0, "final.active_latents"] = 0
    table.loc[table["data"] == ROOM, [f"score.{name}" for name in SCORES]] = 9.0
    return table


def _adaptive(gain: float) -> pd.DataFrame:
    table = runs(
        lambda run: 0.5 + gain + gain * (run["objective.shared_by"] == "distance"),
        data=[SQUARES],
        objective__triplets=["l1", "scaled"],
        objective__shared_by=["kl", "distance"],
        schedule=[(np.nan, 0.5), (0.5, np.nan), (0.0, 0.5)],
    )
    omega, eta = zip(*table.pop("schedule"), strict=True)
    return table.assign(**{"objective.omega.end": omega, "objective.eta.end": eta})


def _losses(gain: float, names: list[str]) -> pd.DataFrame:
    """The last loss gains; at the second beta all are alike, and low."""
    kernels = {
        "gaussian": np.nan,
        "box": "box",
        "blur": "gaussian",
        "learnt": "0.1 0.2",
    }
    table = frameworks(
        lambda run: (
            (0.5 + gain * (run["loss"] == names[-1])) * (run["objective.beta"] < 0.01)
        ),
        data=[SQUARES],
        objective__beta=[0.001, 0.01],
        loss=names,
    )
    kernel = table.pop("loss").map(kernels)
    likelihood = np.where(kernel.isna(), "gaussian", "kernel_augmented")
    return table.assign(
        **{"likelihood.kernel": kernel.astype(object), "likelihood.name": likelihood}
    )


MADE = {
    "michlo-figure-3-7": figure_3_7,
    "michlo-figure-3-10": figure_3_10,
    "michlo-figure-3-12": figure_3_12,
    "michlo-figure-4-4": figure_4_4,
    "michlo-figure-5-1": figure_5_1,
    "michlo-figure-5-3": figure_5_3,
    "michlo-figure-5-4": figure_5_4,
    "michlo-figure-5-5": figure_5_5,
    "michlo-figure-5-7": figure_5_7,
    "michlo-figure-6-4": figure_6_4,
    "michlo-figure-7-3": figure_7_3,
    "michlo-figure-7-6": figure_7_6,
}


@pytest.mark.parametrize("name", MADE)
def test_claim_holds_on_runs_that_support_it(name):
    measured = CLAIMS[name].measure(MADE[name](0.2))
    verdicts = {check.quantity: check.verdict for check in measured.checks}
    assert set(verdicts.values()) == {"holds"}, verdicts


@pytest.mark.parametrize("name", MADE)
def test_every_number_of_a_claim_fails_on_runs_that_contradict_it(name):
    measured = CLAIMS[name].measure(MADE[name](-0.2))
    assert measured.verdict == "does not hold"
    # Figure 4.4 says of two numbers that they are alike, and they are here too.
    n_alike = 2 if name == "michlo-figure-4-4" else 0
    verdicts = [check.verdict for check in measured.checks]
    assert verdicts.count("does not hold") == len(verdicts) - n_alike


def test_distances_of_two_frameworks_can_differ():
    evidence = figure_4_4(0.2)
    table = evidence.table("michlo-2022-a4")
    is_adaptive = table["objective.name"] == "ada_gvae"
    table.loc[is_adaptive, "score.distance_correlation"] -= 0.3
    measured = CLAIMS["michlo-figure-4-4"].measure(evidence)
    assert [check.verdict for check in measured.checks].count("does not hold") == 1


def test_scaling_of_distances_is_asked_about_where_factors_differ_in_size():
    evidence = figure_5_4(0.2)
    adaptive = evidence.table("michlo-2022-a5-2")
    adaptive["data"] = SPRITES
    worse = adaptive["objective.triplets"] == "scaled"
    adaptive.loc[worse, "score.axis_alignment"] -= 0.1
    measured = CLAIMS["michlo-figure-5-4"].measure(evidence)
    assert [check.verdict for check in measured.checks] == ["holds", "does not hold"]


def test_table_6_1_holds_for_the_printed_rows_and_fails_for_a_wider_gaussian():
    printed = {
        "squared error": (0.52, 0.58, 0.55, 0.36),
        "gaussian": (0.84, 0.88, 0.73, 0.61),
        "box": (0.96, 0.97, 0.95, 0.94),
        "learned, radius 31": (0.97, 0.98, 0.96, 0.96),
        "learned, radius 63": (1.00, 0.99, 1.00, 1.00),
    }
    kernel = {"name": "kernel_augmented", "kernel": [[1.0]], "weight": 2.0}
    kept = {f"kernel, {name}": kernel for name in printed}
    kept |= {f"by {name}": list(row) for name, row in printed.items()}
    claim = CLAIMS["michlo-table-6-1"]
    checks = claim.measure(HandMade({}, kept)).checks
    assert len(checks) == 24
    assert {check.verdict for check in checks} == {"holds"}
    # With a third of the radius as its standard deviation.
    kept["by gaussian"] = [0.889, 0.928, 0.784, 0.717]
    failed = [
        check.quantity
        for check in claim.measure(HandMade({}, kept)).checks
        if check.verdict != "holds"
    ]
    assert len(failed) == 4
    assert all("gaussian" in quantity for quantity in failed)


def test_study_of_learnt_losses_has_what_the_other_has_not():
    study = study_of("michlo-2022-a6-learnt", "smoke")
    before = study_of("michlo-2022-a3-3", "smoke")
    blurred, learnt = study["grid"]["likelihood"]
    assert blurred["kernel"] == "gaussian"
    likelihood = learn_loss(open_dataset(study["data"]), steps=5).likelihood
    assert learnt["kernel"] == [list(row) for row in likelihood.kernel]
    assert learnt["weight"] == likelihood.weight
    assert study["methods"] == before["methods"]
    assert study["training"] == before["training"]
    assert study == study_of("michlo-2022-a6-learnt", "smoke")
