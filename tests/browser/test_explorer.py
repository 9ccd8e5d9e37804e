"""The page in a real browser, opened from the disk, with the network off."""

import base64
import time

import numpy as np
import pytest
import torch
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from unbraid.data import ImageFolder, LabeledImages
from unbraid.models import Autoencoder, Bernoulli, Gaussian
from unbraid.models.networks import (
    Convolutional,
    Dense,
    DisentanglementLibConvolutional,
    DissertationConvolutional,
    ProductDecoder,
    Separable,
)
from unbraid.reports import write_explorer

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "\"quotes' & \u202eright-to-left\u2028 🎉",
)
NETWORKS = {
    "standard 64x64": (DisentanglementLibConvolutional(), (3, 64, 64)),
    "dissertation 64x64": (DissertationConvolutional(), (3, 64, 64)),
    "small convolutional": (Convolutional(), (1, 16, 16)),
    "odd sides": (Convolutional(n_filters=8), (3, 17, 23)),
    "dense": (Dense(), (1, 8, 8)),
    "separable": (Separable(), (3, 12, 20)),
}


def random_model(network, shape, *, seed=0, n_latents=10, likelihood=None, **options):
    """Not trained, but with outputs that vary as those of a trained model do."""
    torch.manual_seed(seed)
    model = Autoencoder(
        network.encoder(shape, 2 * n_latents),
        network.decoder(shape, n_latents),
        likelihood=likelihood or Bernoulli(),
        image_shape=shape,
        n_latents=n_latents,
        **options,
    ).eval()
    with torch.no_grad():
        spread_out(model.encoder, model.standardize(torch.rand(64, *shape)), last=1.0)
        spread_out(model.decoder, torch.randn(64, n_latents), last=4.0)
    return model


def spread_out(layers, values, *, last):
    """Scale weights until every layer's outputs have spread 1, and the last this."""
    if isinstance(layers, ProductDecoder):
        for lines in (layers.rows, layers.columns):
            spread_out([lines.from_code, *lines.layers], values, last=1.0)
        layers.channels.weight.mul_(last / layers(values).std())
        return
    weighted = [layer for layer in layers if hasattr(layer, "weight")]
    for layer in layers:
        if layer in weighted:
            torch.nn.init.normal_(layer.bias, std=0.1)
            spread = layer(values).std()
            layer.weight *= (last if layer is weighted[-1] else 1.0) / spread
        values = layer(values)


def random_images(shape, n=40):
    values = np.random.default_rng(0).integers(0, 256, (n, *shape), dtype=np.uint8)
    return LabeledImages(values)


def show(browser, path, **options):
    """Write a page, open it, and wait until everything is drawn."""
    shape = options.pop("shape", (1, 8, 8))
    model = options.pop("model", None) or random_model(Dense(), shape)
    page = write_explorer(model, random_images(shape), path, **options)
    browser.get(page.as_uri())
    settle(browser)
    return model


def settle(browser, seconds=15):
    end = time.monotonic() + seconds
    time.sleep(0.2)  # thumbnails wait for a pause
    while not browser.execute_script("return unbraidExplorer.isIdle()"):
        assert time.monotonic() < end
        time.sleep(0.05)


def pixels(browser, selector="#pictures canvas"):
    return browser.execute_script(
        """const canvas = document.querySelector(arguments[0]);
        const context = canvas.getContext("2d");
        return Array.from(context.getImageData(0, 0, canvas.width, canvas.height).data);
        """,
        selector,
    )


def codes(browser):
    return browser.execute_script("return unbraidExplorer.codes()")


def first(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def button(browser, text):
    return first(browser, f".latent button[aria-label^='{text}']")


def check_agreement(browser, model, n=50):
    """The page's networks against torch, in single precision with the true weights."""
    shape = model.image_shape
    generator = torch.Generator().manual_seed(1)
    latents = torch.randn(n, model.n_latents, generator=generator)
    images = torch.rand(n, *shape, generator=generator)
    with torch.no_grad():
        decoded = model.decode(latents).permute(0, 2, 3, 1).flatten(1).numpy()
        encoded = model.encode(images).mean.numpy()
    # The range of outputs shows that agreement is not that of constants.
    assert np.ptp(decoded) > 0.05
    assert np.ptp(encoded) > 0.05
    assert np.abs(computed(browser, "decode", latents) - decoded).max() < 2 / 255
    pictures = images.permute(0, 2, 3, 1).flatten(1)
    assert np.abs(computed(browser, "encode", pictures) - encoded).max() < 1e-2


def computed(browser, function, rows):
    """A function of the page of every row; as bytes, because numbers take long."""
    text = browser.execute_script(
        """const bytes = Uint8Array.from(atob(arguments[0]), (c) => c.charCodeAt(0));
        const numbers = new Float32Array(bytes.buffer);
        const size = numbers.length / arguments[1];
        const results = [];
        for (let i = 0; i < numbers.length; i += size) {
          results.push(...unbraidExplorer[arguments[2]](numbers.subarray(i, i + size)));
        }
        const found = new Uint8Array(Float32Array.from(results).buffer);
        const letters = Array.from(found, (byte) => String.fromCharCode(byte));
        return btoa(letters.join(""));""",
        base64.b64encode(rows.numpy().astype("<f4").tobytes()).decode(),
        len(rows),
        function,
    )
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(len(rows), -1)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_page_computes_what_torch_computes(browser, tmp_path, name):
    network, shape = NETWORKS[name]
    model = random_model(network, shape)
    show(browser, tmp_path / "explorer.html", model=model, shape=shape, n_examples=2)
    check_agreement(browser, model)


def test_standardised_pixels_and_other_likelihoods_too(browser, tmp_path):
    model = random_model(
        Dense(),
        (3, 8, 8),
        likelihood=Gaussian(),
        mean=torch.tensor([0.1, 0.5, 0.9]),
        std=torch.tensor([0.2, 0.3, 0.4]),
    )
    show(browser, tmp_path / "explorer.html", model=model, shape=(3, 8, 8))
    check_agreement(browser, model)


def test_sliders_and_arrow_keys_change_the_picture(browser, tmp_path):
    model = show(browser, tmp_path / "explorer.html")
    before, code = pixels(browser), codes(browser)[0]
    slider = first(browser, ".latent input[type=range]")
    latent = int(slider.get_attribute("id").removeprefix("slider-"))
    slider.send_keys(Keys.ARROW_RIGHT * 8)
    settle(browser)
    after, moved = pixels(browser), codes(browser)[0]
    assert after != before
    assert moved[latent] > code[latent]
    assert np.delete(moved, latent).tolist() == np.delete(code, latent).tolist()
    with torch.no_grad():
        expected = model.decode(torch.tensor([moved])).numpy().ravel() * 255
    assert np.abs(np.array(after)[::4] - expected).max() < 2
    button(browser, "Reset").click()
    settle(browser)
    assert pixels(browser) == before


def test_a_strip_shows_the_latent_from_low_to_high(browser, tmp_path):
    model = show(browser, tmp_path / "explorer.html")
    slider = first(browser, ".latent input[type=range]")
    latent = int(slider.get_attribute("id").removeprefix("slider-"))
    strip = np.array(pixels(browser, ".latent .strip")).reshape(8, -1, 4)[:, :, 0]
    strip = np.pad(strip, ((0, 0), (0, 1))).reshape(8, 7, 9)[:, :, :8]  # a gap of one
    low, high = (float(slider.get_attribute(name)) for name in ("min", "max"))
    table = torch.tensor(codes(browser)[0]).repeat(7, 1)
    table[:, latent] = torch.linspace(low, high, 7)
    with torch.no_grad():
        expected = model.decode(table)[:, 0].numpy() * 255
    assert np.abs(strip.transpose(1, 0, 2) - expected).max() < 2


def test_a_frozen_latent_stays_when_another_picture_is_chosen(browser, tmp_path):
    show(browser, tmp_path / "explorer.html")
    slider = first(browser, ".latent input[type=range]")
    latent = int(slider.get_attribute("id").removeprefix("slider-"))
    code = codes(browser)[0]
    button(browser, "Freeze").click()
    first(browser, "#examples button:nth-child(3)").click()
    other = codes(browser)[0]
    assert other[latent] == code[latent]
    assert other != code
    assert not slider.is_enabled()
    first(browser, "#random").click()
    assert codes(browser)[0][latent] == code[latent]
    button(browser, "Freeze").click()
    first(browser, "#random").click()
    assert codes(browser)[0][latent] != code[latent]


def test_an_animated_latent_moves_until_it_is_stopped(browser, tmp_path):
    show(browser, tmp_path / "explorer.html")
    button(browser, "Animate").click()
    time.sleep(0.3)
    one = codes(browser)
    time.sleep(0.3)
    assert codes(browser) != one
    button(browser, "Animate").click()
    settle(browser)
    one = codes(browser)
    time.sleep(0.2)
    assert codes(browser) == one


def test_a_picture_of_ones_own_is_encoded(browser, tmp_path):
    model = show(browser, tmp_path / "explorer.html")
    values = np.full((8, 8), 200, np.uint8)
    values[:4] = 30
    Image.fromarray(values).save(tmp_path / "own.png")
    first(browser, "#own").send_keys(str(tmp_path / "own.png"))
    image = torch.from_numpy(values)[None, None]
    with torch.no_grad():
        expected = model.encode(image).mean.numpy()[0]
    end = time.monotonic() + 5
    while np.abs(np.array(codes(browser)[0]) - expected).max() > 2e-2:
        assert time.monotonic() < end
        time.sleep(0.05)
    (tmp_path / "<b>no picture.png").write_text("nothing")
    first(browser, "#own").send_keys(str(tmp_path / "<b>no picture.png"))
    end = time.monotonic() + 5
    while "<b>no picture.png" not in first(browser, "#status").text:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_picture_dropped_on_the_page_is_encoded(browser, tmp_path):
    model = show(browser, tmp_path / "explorer.html")
    # Red above, blue below, and twice as large as the model wants; grey as it looks.
    values = np.zeros((16, 16, 3), np.uint8)
    values[:8, :, 0] = values[8:, :, 2] = 255
    Image.fromarray(values).save(tmp_path / "own.png")
    browser.execute_script(
        """const bytes = Uint8Array.from(atob(arguments[0]), (c) => c.charCodeAt(0));
        const files = new DataTransfer();
        files.items.add(new File([bytes], "own.png", { type: "image/png" }));
        document.body.dispatchEvent(
          new DragEvent("drop", { dataTransfer: files, bubbles: true }));""",
        base64.b64encode((tmp_path / "own.png").read_bytes()).decode(),
    )
    grey = np.asarray(Image.fromarray(values[::2, ::2]).convert("L"))
    with torch.no_grad():
        expected = model.encode(torch.from_numpy(grey.copy())[None, None]).mean.numpy()
    end = time.monotonic() + 5
    while np.abs(np.array(codes(browser)) - expected).max() > 2e-2:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_saved_names_are_read_back(browser, downloads, tmp_path):
    from unbraid.reports import read_latent_names

    show(browser, tmp_path / "explorer.html")
    field = first(browser, ".latent .name")
    latent = int(field.get_attribute("aria-label").removeprefix("Name of z"))
    field.send_keys("taille <é>")
    first(browser, "#save").click()
    saved, end = downloads / "names.json", time.monotonic() + 5
    while not saved.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    names = read_latent_names(saved)
    assert names == {latent: "taille <é>"}
    show(browser, tmp_path / "explorer.html", names=names)
    assert first(browser, ".latent .name").get_attribute("value") == "taille <é>"


def test_two_models_are_matched_and_driven_by_one_slider(browser, tmp_path):
    one = random_model(Dense(), (1, 8, 8), n_latents=4)
    # The same model with latents in another order, and one of them turned round.
    order, signs = [2, 0, 3, 1], torch.tensor([1.0, -1.0, 1.0, 1.0])
    two = random_model(Dense(), (1, 8, 8), n_latents=4)
    with torch.no_grad():
        last, begin = two.encoder[-1], two.decoder[0]
        last.weight[:4] = one.encoder[-1].weight[:4][order] * signs[:, None]
        last.bias[:4] = one.encoder[-1].bias[:4][order] * signs
        last.weight[4:] = one.encoder[-1].weight[4:][order]
        begin.weight.copy_(one.decoder[0].weight[:, order] * signs)
    show(
        browser,
        tmp_path / "explorer.html",
        model=one,
        other=two,
        model_names=["left", "right"],
    )
    canvases = "#pictures figure:nth-child({}) canvas"
    for move in (Keys.END, Keys.ARROW_LEFT * 30):
        for slider in browser.find_elements(By.CSS_SELECTOR, ".latent [type=range]"):
            slider.send_keys(move)
            settle(browser)
            left, right = (pixels(browser, canvases.format(i)) for i in (1, 2))
            assert np.abs(np.array(left) - np.array(right)).max() <= 1
            assert np.ptp(np.array(left)[::4]) > 5
    text = first(browser, "main").text
    assert "reversed to match" in text
    assert "correlation 1.00" in text


def test_hostile_names_are_shown_as_text(browser, tmp_path):
    script, picture, odd = HOSTILE
    values = random_images((1, 8, 8)).images(np.arange(40))
    factors = {name: np.arange(40) for name in HOSTILE}
    page = write_explorer(
        random_model(Dense(), (1, 8, 8)),
        LabeledImages(values, factors, name=picture),
        tmp_path / "explorer.html",
        other=random_model(Dense(), (1, 8, 8), seed=1),
        names=dict(enumerate(HOSTILE)),
        model_names=[script, odd],
    )
    browser.get(page.as_uri())
    settle(browser)
    check_unharmed(browser)
    fields = browser.find_elements(By.CSS_SELECTOR, ".latent .name")
    assert set(HOSTILE) <= {field.get_attribute("value") for field in fields}
    about = first(browser, "#about").get_attribute("textContent")
    example = first(browser, "#examples button").get_attribute("title")
    for name in HOSTILE:
        assert name in about
        assert name in example


def test_hostile_files_are_shown_as_text(browser, tmp_path):
    names = ["<img src=x onerror='window.hacked = 3'>.png", '\u202e🎉"&lt;.png']
    folder = tmp_path / "<script>window.hacked = 4<"
    folder.mkdir()
    for shade, name in enumerate(names):
        Image.new("L", (8, 8), 100 * shade).save(folder / name)
    data = ImageFolder(folder, image_size=8, channels=1, cache=tmp_path / "cache")
    page = write_explorer(
        random_model(Dense(), (1, 8, 8)), data, tmp_path / "explorer.html"
    )
    browser.get(page.as_uri())
    settle(browser)
    check_unharmed(browser)
    buttons = browser.find_elements(By.CSS_SELECTOR, "#examples button")
    assert {button.get_attribute("title") for button in buttons} == set(names)


def check_unharmed(browser):
    assert browser.execute_script("return window.hacked") is None
    assert browser.find_elements(By.CSS_SELECTOR, "img") == []
    assert len(browser.find_elements(By.CSS_SELECTOR, "script")) == 2


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(browser, tmp_path, width):
    size = {
        "width": width,
        "height": 800,
        "deviceScaleFactor": 1,
        "mobile": width < 500,
    }
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        show(browser, tmp_path / "explorer.html", model_names=["a" * 300])
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
