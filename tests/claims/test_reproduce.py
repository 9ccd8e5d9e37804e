import json

import numpy as np
import pandas as pd
import pytest
from command_line import app
from typer.testing import CliRunner

from unbraid.data import LabeledImages, open_dataset
from unbraid.studies import StudyFolder, study_from_plain
from unbraid_claims import (
    CLAIMS,
    PRESETS,
    STUDIES,
    Finding,
    reproduce,
    study_of,
)
from unbraid_claims.claims.holtz_table_3 import stability_on


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *(str(a) for a in arguments)])


@pytest.fixture(scope="module")
def smoke_folder(tmp_path_factory):
    """Folder in which claims share their studies."""
    return tmp_path_factory.mktemp("smoke")


LONGEST = ("locatello-downstream", "estermann-figure-2", "holtz-table-3")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in LONGEST else ())
        for name in CLAIMS
    ],
)
def test_every_claim_runs_at_smoke_size(name, smoke_folder):
    result = run(name, "--preset", "smoke", "--out", smoke_folder, "--json")
    assert result.exit_code == 0, result.output
    (finding,) = json.loads(result.stdout)
    assert finding["name"] == name
    # A few training steps cannot support or refute a claim.
    assert finding["verdict"] == "cannot be told"
    folder = smoke_folder / "smoke" / name
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert Finding.load(folder / "finding.json").checks


def test_all_claims_are_measured_when_none_is_named(tmp_path, monkeypatch):
    few = ["locatello-impossibility", "michlo-table-3-1"]
    claims = {name: CLAIMS[name] for name in few}
    monkeypatch.setattr("unbraid_claims.CLAIMS", claims)
    result = run("--preset", "smoke", "--out", tmp_path, "--json")
    assert result.exit_code == 0, result.output
    assert [one["name"] for one in json.loads(result.stdout)] == few


CLAIMS_ON_TWO_DATASETS = (
    "locatello-selection",
    "locatello-transfer",
    "estermann-figure-2",
    "estermann-figure-4",
    "estermann-figure-5",
    "estermann-figure-6",
)


def test_claims_keep_two_datasets_apart(smoke_folder):
    # Studies that the tests above have trained are not trained again.
    found = {
        name: reproduce(name, "smoke", out=smoke_folder)
        for name in CLAIMS_ON_TWO_DATASETS
    }
    for study in ("dlib-2019", "estermann-2020-fig4-plain", "estermann-2020-fig6"):
        table = pd.read_csv(smoke_folder / "studies" / f"{study}-smoke" / "table.csv")
        assert (table["status"] == "done").all()
        assert table["data"].nunique() == 2
    terms = found["locatello-selection"].checks[:5]
    assert all("of 2 datasets" in check.quantity for check in terms)
    assert "4 settings, 4 datasets" in found["locatello-transfer"].remark
    # Figure 2 was published for sprites alone.
    assert "Without room3d" in found["estermann-figure-2"].remark
    for figure in (4, 5, 6):
        quantities = [c.quantity for c in found[f"estermann-figure-{figure}"].checks]
        for data in ("sprites2d", "room3d"):
            assert any(quantity.startswith(data) for quantity in quantities)


OTHER_SPRITES = "sprites2d:image_size=16,n_scales=2,n_orientations=4,n_positions=4"


@pytest.fixture(scope="module")
def other_sprites(tmp_path_factory):
    """Folder of the claims of Holtz et al. on a second dataset."""
    original = STUDIES["holtz-2022"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(
            STUDIES,
            "holtz-2022",
            lambda preset: {**original(preset), "data": OTHER_SPRITES},
        )
        folder = tmp_path_factory.mktemp("other")
        findings = [
            reproduce(name, "smoke", out=folder)
            for name in ("holtz-table-3", "holtz-table-4")
        ]
    return folder, findings


def test_claims_on_one_dataset_run_on_a_second_one(other_sprites):
    folder, findings = other_sprites
    table = pd.read_csv(folder / "studies" / "holtz-2022-smoke" / "table.csv")
    assert set(table["data"]) == {OTHER_SPRITES}
    for finding in findings:
        assert finding.n_runs == len(table) == 8
    stability = findings[0].checks[-1]
    assert stability.value == pytest.approx(1.0)
    assert stability.verdict == "holds"


def test_stability_under_noise_is_computed_from_what_the_models_are_shown(
    other_sprites,
):
    folder, _ = other_sprites
    cells = StudyFolder(folder / "studies" / "holtz-2022-smoke").cells
    data = open_dataset(OTHER_SPRITES)
    images = data.images(np.arange(len(data)))
    # The same images, and noise in their place.
    other = np.random.default_rng(0).integers(0, 256, images.shape, dtype=np.uint8)
    shown = {1: LabeledImages(images), 2: LabeledImages(other)}
    rows = pd.DataFrame(stability_on(cells, shown))
    assert len(rows) == 4
    np.testing.assert_allclose(rows["stability_1"], rows["stability_0"], rtol=1e-5)
    change = np.abs(rows["stability_2"] - rows["stability_0"])
    assert (change > 1e-3 * np.abs(rows["stability_0"])).all()


def test_a_second_call_trains_nothing(tmp_path):
    first = reproduce("ottlik-compute", "smoke", out=tmp_path)
    table = tmp_path / "studies" / "compute-smoke" / "table.csv"
    scores = {p: p.stat().st_mtime_ns for p in table.parent.glob("runs/*/scores.json")}
    assert len(scores) == first.n_runs == 8
    second = reproduce("ottlik-compute", "smoke", out=tmp_path)
    assert second.checks == first.checks
    assert scores == {p: p.stat().st_mtime_ns for p in scores}


def test_the_cost_of_training_is_announced(tmp_path, monkeypatch):
    def reproduce(*arguments, **options):
        raise ValueError("nothing is trained here")

    monkeypatch.setattr("unbraid_claims.reproduce", reproduce)
    result = run("ottlik-compute", "--preset", "mini", "--out", tmp_path)
    assert result.exit_code == 1
    assert "compute-mini: 36 runs in" in result.stderr
    assert "unbraid: ottlik-compute: nothing is trained here" in result.stderr


def test_claims_are_listed():
    result = run()
    assert result.exit_code == 0
    assert all(name in result.stdout for name in CLAIMS)
    listed = json.loads(run("--json").stdout)
    assert {row["name"] for row in listed} == set(CLAIMS)


def test_every_claim_has_a_name_a_source_and_known_studies():
    assert len(CLAIMS) >= 20
    for name, claim in CLAIMS.items():
        assert claim.name == name
        assert claim.text.endswith(".")
        assert "(" in claim.source
        for preset in PRESETS:
            assert set(claim.studies_at(preset)) <= set(STUDIES)


@pytest.mark.parametrize(
    "preset", ["smoke", "mini", pytest.param("paper", marks=pytest.mark.slow)]
)
def test_every_study_can_be_read_at_every_size(preset):
    claims = CLAIMS.values()
    used = {name for claim in claims for name in claim.studies_at(preset)}
    sizes = {
        name: len(study_from_plain(study_of(name, preset)).runs()) for name in used
    }
    most = {"smoke": 32, "mini": 250, "paper": 13_000}[preset]
    assert all(1 < size <= most for size in sizes.values()), sizes


def test_an_unknown_name_gets_the_nearest():
    result = run("michlo-tabel-3-1")
    assert result.exit_code == 2
    assert "'michlo-table-3-1'" in result.output


def test_a_claim_that_fails_does_not_stop_the_others(tmp_path):
    # A file where the study's folder should be.
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "compute-smoke").write_text("in the way")
    names = ["ottlik-compute", "locatello-impossibility"]
    result = run(*names, "--preset", "smoke", "--out", tmp_path)
    assert result.exit_code == 1
    assert "unbraid: " in result.stderr
    assert "locatello-impossibility" in result.stdout
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--preset", "huge"], "huge"),
        (["--findings", "page.html"], "must end in .md"),
        (["--findings", "page.md", "--preset", "mini"], "--findings takes no names"),
    ],
)
def test_wrong_usage_is_said_in_a_sentence(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_findings_of_nowhere_are_said_to_be_missing(tmp_path):
    result = run("--findings", tmp_path / "findings.md")
    assert result.exit_code == 1 or isinstance(result.exception, FileNotFoundError)


def test_an_unknown_preset_is_refused_in_python():
    with pytest.raises(ValueError, match="preset must be 'smoke', 'mini' or 'paper'"):
        reproduce("locatello-impossibility", "huge")
