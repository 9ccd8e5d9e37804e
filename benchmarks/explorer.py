"""How long the explorer's page takes to redraw a picture, and how large it is.

Run alone: ``.venv/bin/python benchmarks/explorer.py``. Needs Debian's chromium and
chromium-driver.
"""

import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import torch
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

N_REDRAWS = 200
NETWORKS = {
    "standard, 64x64x3": (DisentanglementLibConvolutional(), 64),
    "dissertation, 64x64x3": (DissertationConvolutional(), 64),
    "convolutional, 64x64x3": (Convolutional(), 64),
}


def main() -> None:
    """Print one line per network: milliseconds of a redraw, size of the file."""
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
            for name, (network, size) in NETWORKS.items():
                page = write_page(network, size, Path(folder, "explorer.html"))
                driver.get(page.as_uri())
                driver.set_script_timeout(120)
                times = driver.execute_script(
                    f"return unbraidExplorer.timeRedraws({N_REDRAWS})"
                )
                low, middle, high = statistics.quantiles(times, n=4)
                print(
                    f"{name}: redraw {middle:.1f} ms (quartiles {low:.1f} to "
                    f"{high:.1f}, {N_REDRAWS} redraws), file "
                    f"{page.stat().st_size / 1e6:.2f} MB"
                )
    finally:
        driver.quit()


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
