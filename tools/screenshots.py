"""Take the screenshots of report and explorer that the documentation shows.

    python benchmarks/demo.py DEMOS --seeds 0 1
    python tools/screenshots.py DEMOS/0/found DEMOS/1/found docs/images

The first discovery is shown alone, and next to the chosen model of the second. Needs
Chromium and its driver, as the tests do.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from selenium import webdriver

import unbraid
from unbraid.data import open_dataset
from unbraid.reports import write_explorer, write_report

_DESKTOP, _PHONE = 1280, 390
_SECONDS_TO_DRAW = 3.0
"""Time in which the page decodes the images of all latents."""


def open_browser() -> webdriver.Chrome:
    """Open Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(argument)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def take(driver: webdriver.Chrome, page: Path, out: Path, scroll_to: str = "") -> None:
    """Take a picture of a page, in the size and color scheme of ``_PICTURES``."""
    width, height, scheme = _PICTURES[out.stem]
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1}
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", metrics | {"mobile": width == _PHONE}
    )
    driver.get(page.resolve().as_uri())
    if scroll_to:
        driver.execute_script(
            "document.querySelector(arguments[0]).scrollIntoView()", scroll_to
        )
    time.sleep(_SECONDS_TO_DRAW)
    driver.save_screenshot(str(out))


_PICTURES = {
    "explorer-desktop-light": (_DESKTOP, 900, "light"),
    "explorer-desktop-dark": (_DESKTOP, 900, "dark"),
    "explorer-phone-light": (_PHONE, 1100, "light"),
    "explorer-phone-dark": (_PHONE, 1100, "dark"),
    "explorer-two-light": (_DESKTOP, 860, "light"),
    "report-desktop-light": (_DESKTOP, 1450, "light"),
    "report-phone-light": (_PHONE, 844, "light"),
    "report-phone-explorer-dark": (_PHONE, 844, "dark"),
}


def main() -> None:
    """Write the pages again with the current texts, and take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("first", type=Path, help="folder of a discovery")
    parser.add_argument("second", type=Path, help="folder of another one")
    parser.add_argument("out", type=Path, help="folder of the pictures")
    options = parser.parse_args()
    data = open_dataset("discs")
    first, second = (
        unbraid.load(folder / "model") for folder in (options.first, options.second)
    )
    driver = open_browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            one, two = Path(folder, "one.html"), Path(folder, "two.html")
            write_explorer(first, data, one)
            write_explorer(first, data, two, other=second)
            report = write_report(options.first, Path(folder, "report.html"))
            for name in _PICTURES:
                kind, page = name.split("-")[0], two if "two" in name else one
                take(
                    driver,
                    report if kind == "report" else page,
                    options.out / f"{name}.png",
                    "iframe" if "phone-explorer" in name else "",
                )
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
