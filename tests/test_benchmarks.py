import sys

import all as runner
import pytest
from comparison import Comparison, tell, told
from results import Result, page


def line(**changes):
    made_up = {
        "what": "drawing squares",
        "unit": "images per second",
        "peer": "slow 1.0",
        "theirs": [100.0, 200.0, 100.0],
        "ours": [1000.0, 1000.0, 400.0],
    }
    return Comparison(**made_up | changes)


def result(name, **changes):
    made_up = {
        "date": "2026-01-02",
        "command": "python benchmarks/data.py",
        "about": "Squares.",
        "machine": "Slide rule, 2 cores",
        "versions": {"python": "3.11.2", "slow": "1.0"},
        "seconds": 61.2,
        "others": 0.25,
        "comparisons": [line()],
    }
    return Result(name=name, **made_up | changes)


def test_ratios_are_of_the_same_round():
    assert line().ratios == [10, 5, 4]
    assert line().ratio == 5


def test_less_is_better_unless_it_is_per_second():
    assert line(unit="seconds", theirs=[6.0], ours=[3.0, 2.0]).ratios == [2, 3]


@pytest.mark.parametrize(
    "changes", [{"theirs": [1.0, 2.0]}, {"ours": []}, {"ours": [1.0, 0.0, 1.0]}]
)
def test_rounds_that_do_not_pair_and_zeros_are_refused(changes):
    with pytest.raises(ValueError, match="drawing squares"):
        line(**changes)


def test_lines_are_printed_and_appended(tmp_path, capsys):
    file = tmp_path / "lines.jsonl"
    tell([line()], file)
    tell([line(note="again")], file)
    assert told(file) == [line(), line(note="again")]
    assert "slow 1.0  100     1,000  5.00   4.00 - 10.0  3" in capsys.readouterr().out


def test_results_survive_the_disk(tmp_path):
    assert Result.read("data", tmp_path) is None
    result("data").write(tmp_path)
    assert Result.read("data", tmp_path) == result("data")


def test_page_has_a_table_and_says_what_failed():
    failed = result("training", comparisons=[], error="no wheel of that name")
    text = page([result("data", comparisons=[line(note="on paper")]), failed])
    assert (
        "| data: drawing squares | images per second | slow 1.0 | 100 | 1,000 | 5.00 "
        "| 4.00 - 10.0 | 3 |"
    ) in text
    assert "- drawing squares: on paper" in text
    assert "2026-01-02 in 61 s, Slide rule, 2 cores; other processes used 25%" in text
    assert "python 3.11.2, slow 1.0" in text
    assert "Not measured: training" in text
    assert "**failed**: no wheel of that name" in text


def test_numbers_taken_over_from_elsewhere_are_told_as_such():
    text = page([result("data", source="README.md")])
    assert "| 4.00 - 10.0 | earlier |" in text
    assert "**measured earlier, from README.md**: 2026-01-02" in text


@pytest.fixture
def two_suites(tmp_path, monkeypatch):
    """Suites of which one counts its runs and the other fails."""
    (tmp_path / "works.py").write_text(
        "import json, pathlib, sys\n"
        "runs = pathlib.Path(__file__).with_name('runs')\n"
        "runs.write_text(runs.read_text() + '.' if runs.exists() else '.')\n"
        "line = dict(what='w', unit='seconds', peer='p', theirs=[2.0], ours=[1.0])\n"
        "pathlib.Path(sys.argv[sys.argv.index('--json') + 1]).write_text("
        "json.dumps(line))\n"
    )
    (tmp_path / "breaks.py").write_text("raise SystemExit('no such peer')\n")
    suites = {
        "breaks": runner.Suite("breaks.py", "Breaks."),
        "works": runner.Suite("works.py", "Works."),
    }
    monkeypatch.setattr(runner, "SUITES", suites)
    monkeypatch.setattr(runner, "HERE", tmp_path)
    monkeypatch.setattr(runner, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(runner, "PAGE", tmp_path / "RESULTS.md")
    return tmp_path


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["all.py", *arguments])
    runner.main()


def test_others_go_on_when_a_suite_fails(two_suites, monkeypatch):
    with pytest.raises(SystemExit, match="breaks"):
        run(monkeypatch)
    text = (two_suites / "RESULTS.md").read_text()
    assert "**failed**: no such peer" in text
    assert "| works: w | seconds | p | 2.00 | 1.00 | 2.00 |  | 1 |" in text


def test_what_is_measured_is_kept_unless_asked_for_again(two_suites, monkeypatch):
    for arguments, n_runs in (((), 1), ((), 1), (("--again",), 2)):
        run(monkeypatch, "--only", "works", *arguments)
        assert len((two_suites / "runs").read_text()) == n_runs


def test_help_names_the_suites(monkeypatch, capsys):
    with pytest.raises(SystemExit, match="0"):
        run(monkeypatch, "--help")
    assert "{data,training,population,selection" in capsys.readouterr().out


def test_the_page_in_the_repository_is_made_of_the_results_beside_it():
    assert runner.PAGE.read_text() == page(runner.kept())
