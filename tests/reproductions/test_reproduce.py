import json

import pytest
from typer.testing import CliRunner

from unbraid.cli._app import app
from unbraid.reproductions import REPRODUCTIONS, STUDIES, Finding, reproduce, study_of
from unbraid.studies import study_from_plain


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *(str(a) for a in arguments)])


@pytest.fixture(scope="module")
def smoke_folder(tmp_path_factory):
    """Folder in which claims share their studies."""
    return tmp_path_factory.mktemp("smoke")


@pytest.mark.parametrize("name", REPRODUCTIONS)
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
    claims = {name: REPRODUCTIONS[name] for name in few}
    monkeypatch.setattr("unbraid.reproductions.REPRODUCTIONS", claims)
    result = run("--preset", "smoke", "--out", tmp_path, "--json")
    assert result.exit_code == 0, result.output
    assert [one["name"] for one in json.loads(result.stdout)] == few


def test_a_second_call_trains_nothing(tmp_path):
    first = reproduce("ottlik-compute", "smoke", out=tmp_path)
    table = tmp_path / "studies" / "compute-smoke" / "table.csv"
    scores = {p: p.stat().st_mtime_ns for p in table.parent.glob("runs/*/scores.json")}
    assert len(scores) == first.n_runs == 8
    second = reproduce("ottlik-compute", "smoke", out=tmp_path)
    assert second.checks == first.checks
    assert scores == {p: p.stat().st_mtime_ns for p in scores}


def test_claims_are_listed():
    result = run()
    assert result.exit_code == 0
    assert all(name in result.stdout for name in REPRODUCTIONS)
    listed = json.loads(run("--json").stdout)
    assert {row["name"] for row in listed} == set(REPRODUCTIONS)


def test_every_claim_has_a_name_a_source_and_known_studies():
    assert len(REPRODUCTIONS) >= 20
    for name, claim in REPRODUCTIONS.items():
        assert claim.name == name
        assert claim.claim.endswith(".")
        assert "(" in claim.source
        assert set(claim.studies) <= set(STUDIES)


@pytest.mark.parametrize("preset", ["smoke", "mini", "paper"])
def test_every_study_can_be_read_at_every_size(preset):
    used = {name for claim in REPRODUCTIONS.values() for name in claim.studies}
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
        (["--findings", "page.html"], "ends in .md"),
        (["--findings", "page.md", "--preset", "mini"], "--findings alone"),
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
    with pytest.raises(ValueError, match="expected a preset among smoke, mini, paper"):
        reproduce("locatello-impossibility", "huge")
