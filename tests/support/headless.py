"""Debian's chromium without a window and without a network."""

import shutil

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service


def open_chromium(folder):
    """A browser that resolves no host and saves downloads in a folder."""
    options = Options()
    options.binary_location = _found("chromium")
    for argument in (
        "--headless=new",
        "--no-sandbox",  # tests may run as root, where there is none
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--force-color-profile=srgb",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    options.add_experimental_option(
        "prefs", {"download.default_directory": str(folder)}
    )
    service = Service(_found("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def _found(command):
    path = shutil.which(command)
    if path is None:
        raise FileNotFoundError(
            f"Expected {command} on the path, got none. Run: apt-get install "
            "--no-install-recommends chromium chromium-driver"
        )
    return path
