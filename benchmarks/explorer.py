"""How long the explorer's page takes to redraw a picture, and how large it is.

There is no peer: both stand beside the limits that were set. Needs Debian's chromium
and chromium-driver.

    python benchmarks/explorer.py [--json FILE]
"""

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import torch
from comparison import Comparison, add_option, tell
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from unbraid.data import XYObject
from unbraid.models import Autoencoder, Bernoulli
from unbraid.models.networks import (
    AbstractNetwork,
    Convolutional,
    DisentanglementLibConvolutional,
    DissertationConvolutional,
)
from unbraid.reports import write_explorer

N_ROUNDS, N_REDRAWS = 5, 40
REDRAW_LIMIT, FILE_LIMIT = 33.0, 5.0
"""Milliseconds (30 pictures a second) and megabytes."""
NETWORKS = {
    "standard, 64x64x3": (DisentanglementLibConvolutional(), 64),
    "dissertation, 64x64x3": (DissertationConvolutional(), 64),
    "convolutional, 64x64x3": (Convolutional(), 64),
}


def main() -> None:
    """Measure each network in one browser."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_option(parser)
    arguments = parser.parse_args()
    for command in ("chromium", "chromedriver"):
        if shutil.which(command) is None:
            sys.exit(
                f"Expected {command}, got none. Run: apt-get install chromium "
                "chromium-driver"
            )
    options = Options()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        with tempfile.TemporaryDirectory() as folder:
            lines = [
                line
                for name, (network, size) in NETWORKS.items()
                for line in measure(driver, name, network, size, Path(folder))
            ]
    finally:
        driver.quit()
    tell(lines, arguments.json)


def measure(
    driver: webdriver.Chrome,
    name: str,
    network: AbstractNetwork,
    size: int,
    folder: Path,
) -> list[Comparison]:
    """Milliseconds of a redraw and size of the file, beside their limits."""
    page = write_page(network, size, folder / "explorer.html")
    driver.get(page.as_uri())
    driver.set_script_timeout(120)
    redraw = f"return unbraidExplorer.timeRedraws({N_REDRAWS})"
    rounds = [statistics.median(driver.execute_script(redraw)) for _ in range(N_ROUNDS)]
    return [
        Comparison(
            what=f"{name}: redraw",
            unit="milliseconds",
            peer="limit",
            theirs=[REDRAW_LIMIT],
            ours=rounds,
            note=f"a round is the median of {N_REDRAWS} redraws",
        ),
        Comparison(
            what=f"{name}: file",
            unit="MB",
            peer="limit",
            theirs=[FILE_LIMIT],
            ours=[page.stat().st_size / 1e6],
        ),
    ]


def write_page(network: AbstractNetwork, size: int, path: Path) -> Path:
    """A page of an untrained model: redrawing takes the same."""
    torch.manual_seed(0)
    shape = (3, size, size)
    model = Autoencoder(
        network.encoder(shape, 20),
        network.decoder(shape, 10),
        likelihood=Bernoulli(),
        image_shape=shape,
        n_latents=10,
    ).eval()
    return write_explorer(model, XYObject(), path)


if __name__ == "__main__":
    main()
