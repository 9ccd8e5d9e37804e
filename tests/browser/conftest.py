"""A browser that is silent: no error in its console, no request to anywhere."""

import json

import pytest
from headless import open_chromium


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(downloads):
    driver = open_chromium(downloads)
    yield driver
    driver.quit()


@pytest.fixture(autouse=True)
def _silent(request):
    """No test leaves an error in the console, or a request to anywhere but the disk."""
    yield
    browser = request.getfixturevalue("browser")
    complaints = [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]
    assert complaints == []
    messages = [json.loads(e["message"]) for e in browser.get_log("performance")]
    asked = [
        event["message"]["params"]["request"]["url"]
        for event in messages
        if event["message"]["method"] == "Network.requestWillBeSent"
    ]
    local = ("file:", "data:", "blob:", "chrome:", "about:")
    assert [url for url in asked if not url.startswith(local)] == []
    # The log does see requests, or the line above would prove nothing.
    assert any(url.startswith("file:") for url in asked)
