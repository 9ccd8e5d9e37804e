"""The report in a real browser: the explorer inside it, and how pages look."""

import time

import numpy as np
import pytest
from miniature_study import MINIATURE
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from unbraid.execution import InlineExecutor
from unbraid.reports import read_latent_names, write_report
from unbraid.reports.pages._page import (
    Notice,
    Page,
    Preformatted,
    Section,
    Table,
    render,
)
from unbraid.studies import run_study, study_from_plain

LONG = "a_very_long_name_without_a_space" * 12
HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    plain = MINIATURE | {
        "name": f"{HOSTILE} \u202e🎉",
        "seeds": 2,
        "objective": {"name": "beta_vae", "beta": 0.01},
        "traces": {"n_observations": 8, "n_snapshots": 4},
    }
    plain["training"] = plain["training"] | {"steps": 200, "learning_rate": 5e-3}
    folder = tmp_path_factory.mktemp("report") / "study"
    run_study(study_from_plain(plain), folder, executor=InlineExecutor())
    return write_report(folder)


def enter(browser, page):
    """Open the page, go to the explorer, and step into its frame."""
    browser.get(page.as_uri())
    browser.find_element(By.CSS_SELECTOR, "a.explore").click()
    frame = browser.find_element(By.CSS_SELECTOR, "#explorer iframe")
    browser.switch_to.frame(frame)
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".latent"))


def wait(is_so, seconds=10):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def picture(browser):
    return browser.execute_script(
        """const canvas = document.querySelector("#pictures canvas");
        const context = canvas.getContext("2d");
        return Array.from(context.getImageData(0, 0, canvas.width, canvas.height).data);
        """
    )


def test_sliders_inside_a_report_change_the_picture(browser, page):
    enter(browser, page)
    before = picture(browser)
    slider = browser.find_element(By.CSS_SELECTOR, ".latent input[type=range]")
    slider.send_keys(Keys.END)
    wait(lambda: picture(browser) != before)
    assert np.ptp(np.array(picture(browser))[::4]) > 5


def test_names_are_saved_from_inside_a_report(browser, page, downloads):
    enter(browser, page)
    browser.find_element(By.CSS_SELECTOR, ".latent .name").send_keys("across")
    browser.find_element(By.ID, "save").click()
    wait(lambda: (downloads / "names.json").is_file())
    assert list(read_latent_names(downloads / "names.json").values()) == ["across"]


def test_the_explorer_waits_until_it_is_looked_at(browser, tmp_path, page):
    # Far below the fold; the same page with room above it.
    text = page.read_text(encoding="utf-8")
    far = tmp_path / "far.html"
    room = '<main><div style="height: 20000px"></div>'
    far.write_text(text.replace("<main>", room), encoding="utf-8")
    browser.get(far.as_uri())
    time.sleep(0.5)
    assert not is_drawn(browser)
    browser.execute_script("document.querySelector('#explorer').scrollIntoView()")
    wait(lambda: is_drawn(browser))


def is_drawn(browser):
    browser.switch_to.frame(browser.find_element(By.CSS_SELECTOR, "iframe"))
    found = browser.find_elements(By.CSS_SELECTOR, ".latent")
    browser.switch_to.default_content()
    return bool(found)


def test_the_frame_cannot_reach_the_report_and_no_other_script_runs(browser, page):
    browser.get(page.as_uri())
    assert browser.execute_script("return window.hacked") is None
    assert browser.find_elements(By.CSS_SELECTOR, "script, img") == []
    enter(browser, page)
    reach = "try { return parent.document.title } catch (error) { return error.name }"
    assert browser.execute_script(reach) == "SecurityError"


@pytest.mark.parametrize("width", [390, 1280])
def test_no_report_is_wider_than_the_window(browser, page, tmp_path, width):
    odd = Page(
        kind="Study",
        title=LONG,
        lead=LONG,
        facts=((LONG, LONG),),
        notices=(Notice(level="problem", title=LONG, items=((LONG, LONG),)),),
        sections=(
            Section(
                title="Part",
                paragraphs=(LONG,),
                blocks=(
                    Table(title=LONG, columns=(LONG, LONG), rows=((LONG, LONG),)),
                    Preformatted(title=LONG, text=LONG),
                ),
            ),
        ),
    )
    path = tmp_path / "odd.html"
    path.write_text(render(odd), encoding="utf-8")
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for shown in (page, path):
            browser.get(shown.as_uri())
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
