import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unbraid_claims import (
    CLAIMS,
    Check,
    Evidence,
    Finding,
    Measured,
    findings_page,
    gain_of,
    mean_of,
    resampled,
    write_findings,
)


def check(value, interval=None, **bounds):
    return Check(
        quantity="gain", expected="above 0", value=value, interval=interval, **bounds
    )


def finding(name="michlo-table-3-1", **changes):
    given = {
        "name": name,
        "source": "Somebody (2020), Table 1",
        "claim": "More is better.",
        "preset": "mini",
        "verdict": "holds",
        "checks": (check(1.0, (0.5, 1.5), least=0.0),),
        "remark": "",
        "n_seeds": 3,
        "n_runs": 12,
        "minutes": 4.0,
        "day": "2026-11-16",
        "versions": {"unbraid": "0.1.0"},
    }
    return Finding(**given | changes)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.1, 0.3), "holds"),
        ((-0.3, -0.1), "does not hold"),
        ((-0.1, 0.3), "cannot be told"),
        ((0.0, 0.0), "cannot be told"),
        ((-math.inf, math.inf), "cannot be told"),
        ((math.nan, math.nan), "cannot be told"),
        (None, "holds"),
    ],
)
def test_a_check_holds_if_its_whole_interval_does(interval, verdict):
    assert check(0.2, interval, least=0.0).verdict == verdict


def test_a_number_that_is_not_known_cannot_be_told():
    assert check(math.nan, least=0.0).verdict == "cannot be told"


def test_a_number_may_lie_between_two_bounds():
    assert check(0.5, least=0.4, most=0.6).verdict == "holds"
    assert check(0.7, least=0.4, most=0.6).verdict == "does not hold"


@pytest.mark.parametrize("bounds", [{}, {"least": 1.0, "most": 0.0}])
def test_a_check_that_cannot_fail_is_refused(bounds):
    with pytest.raises(ValueError, match="least must be below most"):
        check(0.0, **bounds)


def test_a_claim_is_as_good_as_the_worst_of_its_checks():
    good, bad = check(1.0, least=0.0), check(-1.0, least=0.0)
    open_ = check(1.0, (-1.0, 2.0), least=0.0)
    assert Measured(checks=[good, good]).verdict == "holds"
    assert Measured(checks=[good, open_]).verdict == "cannot be told"
    assert Measured(checks=[good, open_, bad]).verdict == "does not hold"


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20))
def test_an_interval_holds_its_mean(values):
    mean, (low, high) = mean_of(values)
    assert low <= mean <= high


def test_one_repetition_tells_nothing_about_the_next():
    assert mean_of([0.3]) == (0.3, (-math.inf, math.inf))
    assert gain_of([0.3], [0.1, 0.2])[1] == (-math.inf, math.inf)


def test_intervals_of_means_hold_the_truth_as_often_as_they_claim():
    generator = np.random.default_rng(0)
    held = [
        low <= 0.0 <= high
        for _, (low, high) in (mean_of(generator.normal(size=4)) for _ in range(1000))
    ]
    assert 0.93 < np.mean(held) < 0.97


def test_a_resample_keeps_the_size_of_every_group():
    table = pd.DataFrame({"setting": list("aabbb"), "score": range(5)})
    sizes = []

    def statistic(some):
        sizes.append(dict(some["setting"].value_counts()))
        return float(some["score"].mean())

    value, (low, high) = resampled(
        table, statistic, within="setting", n_resamples=50, seed=3
    )
    assert all(size == {"a": 2, "b": 3} for size in sizes)
    assert low <= value == 2.0 <= high


def test_a_number_that_is_seldom_defined_has_no_interval():
    table = pd.DataFrame({"score": [1.0, 2.0]})
    value, interval = resampled(table, lambda some: math.nan, n_resamples=10)
    assert math.isnan(value)
    assert interval == (-math.inf, math.inf)


def test_a_finding_is_the_same_after_saving(tmp_path):
    original = finding()
    original.save(tmp_path / "finding.json")
    assert Finding.load(tmp_path / "finding.json") == original
    # Without infinities, which JSON does not have.
    plain = json.loads((tmp_path / "finding.json").read_text())
    assert plain["checks"][0]["most"] is None
    assert plain["checks"][0]["verdict"] == "holds"


def test_the_page_shows_contradictions_first():
    bad = finding(
        "michlo-figure-3-12",
        verdict="does not hold",
        checks=(check(-1.0, least=0.0),),
    )
    page = findings_page(
        [finding(), bad], discussions={"michlo-figure-3-12": "Why. So."}, figures="pics"
    )
    assert page.index("## Does not hold") < page.index("## Holds")
    assert "Why. So." in page
    assert "![michlo-figure-3-12](pics/michlo-figure-3-12.png)" in page
    assert "2 claims; do not hold: 1, cannot be told: 0, hold: 1." in page


def test_findings_from_before_a_change_of_the_claim_are_marked():
    changed = CLAIMS["holtz-table-3"].changed
    old = finding("holtz-table-3", day="2026-11-16")
    page = findings_page([old, finding()])
    assert "1 of these findings are outdated" in page
    assert page.count("| holds (outdated) |") == 1
    assert f"before the claim was changed on {changed}" in page
    new = finding("holtz-table-3", day=changed)
    assert "utdated" not in findings_page([new, finding()])


def test_results_are_computed_again_after_a_change_of_the_claim(tmp_path):
    def kept(revision, value):
        evidence = Evidence("smoke", tmp_path, {}, revision=revision)
        return evidence.cached("result", lambda: value)

    assert kept("2026-11-16", 1) == 1
    assert kept("2026-11-16", 2) == 1
    assert kept("2026-11-18", 3) == 3


def test_a_contradiction_must_be_discussed():
    bad = finding(verdict="does not hold")
    with pytest.raises(
        ValueError, match="'michlo-table-3-1' does not hold, but is not"
    ):
        findings_page([bad])


def test_a_page_is_written_from_the_folder_of_its_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="no findings in"):
        write_findings(tmp_path / "findings.md")
    (tmp_path / "findings").mkdir()
    finding().save(tmp_path / "findings" / "michlo-table-3-1.json")
    assert write_findings(tmp_path / "findings.md") == 1
    assert "More is better." in (tmp_path / "findings.md").read_text()


def test_the_page_in_the_repository_is_what_the_program_writes(tmp_path):
    docs = Path(__file__).parents[2] / "docs"
    shutil.copytree(docs / "findings", tmp_path / "findings")
    assert write_findings(tmp_path / "findings.md") >= 20
    written = (tmp_path / "findings.md").read_text()
    assert written == (docs / "findings.md").read_text()
    for picture in re.findall(r"\]\((findings/.*?\.png)\)", written):
        assert (docs / picture).is_file()
