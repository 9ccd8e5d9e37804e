"""The tables in docs/studies/dynamics.md are those of the stored result."""

import json
from pathlib import Path

from unbraid.selection import SCORES, VARIED
from unbraid.studies import read_study

FOLDER = Path(__file__).parents[2] / "docs" / "studies"
RESULT = json.loads((FOLDER / "dynamics.json").read_text())
OPTIONS = {
    "steps": "diffusion time",
    "n_neighbors": "neighbors",
    "n_slice_neighbors": "neighbors among snapshots",
    "decay": "decay of the kernel",
    "n_components": "coordinates",
    "layer": "layer",
}


def rows(header):
    """Cells of the table whose first column has this name."""
    text = (FOLDER / "dynamics.md").read_text()
    table = text.split(f"| {header} |", 1)[1].split("\n\n", 1)[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()[2:]
    ]


def test_the_sensitivity_table_is_the_stored_one():
    expected = [
        [
            OPTIONS[row["option"]],
            row["value"] + (" (default)" if row["is_usual"] else ""),
            row["most_stable"].removeprefix("beta_vae "),
            f"{row['agreement']:.2f}",
            f"{row['separation']:.2f}",
            f"{row['correlation']:.2f}",
        ]
        for row in RESULT["sensitivity"]
    ]
    assert rows("option") == expected
    assert list(OPTIONS) == [*VARIED, "layer"]


def test_the_table_of_scores_is_the_stored_one():
    expected = [
        [
            f"`{row['score']}`",
            row["chosen"].removeprefix("beta_vae "),
            f"{row['chosen_reference']:.3f}",
            f"{row['correlation']:.2f}",
        ]
        for row in RESULT["scores"]
    ]
    assert rows("score") == expected
    assert [row["score"] for row in RESULT["scores"]] == list(SCORES)


def test_the_study_has_the_stored_runs():
    study = read_study(FOLDER / "dynamics.yaml")
    found = {
        (spec.objective["beta"], spec.training.n_latents, spec.seed)
        for spec in study.runs()
    }
    configurations = {row["configuration"] for row in RESULT["runs"]}
    assert len(found) == len(RESULT["runs"]) == 30
    assert configurations == {
        f"beta_vae beta={beta:g}, n_latents={n_latents}" for beta, n_latents, _ in found
    }


def test_the_text_quotes_the_chosen_run():
    text = " ".join((FOLDER / "dynamics.md").read_text().split())
    chosen = next(row for row in RESULT["runs"] if row["run"] == RESULT["chosen"])
    best = max(row["mig"] for row in RESULT["runs"])
    assert f"(MIG {chosen['mig']:.3f}). The best run has {best:.3f}" in text
    usual = [row["correlation"] for row in RESULT["sensitivity"] if row["is_usual"]]
    assert len(set(usual)) == 1
    for option in OPTIONS:
        own = [r["correlation"] for r in RESULT["sensitivity"] if r["option"] == option]
        assert max(abs(value - usual[0]) for value in own) >= 0.2
