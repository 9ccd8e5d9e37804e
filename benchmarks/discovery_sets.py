"""Image sets with known factors, on which ``discover`` is measured.

All sets are made here: rendered shapes, real pixels that scikit-learn ships, symbols of
a font that Matplotlib ships, and two sets in which there is nothing to disentangle.
Factors are drawn independently of each other unless a set says otherwise, and most of
them are continuous.

    python benchmarks/discovery_sets.py OUT    # one PNG with examples of every set

Three sets, ``HELD_OUT``, are never used to tune anything. ``REFUSED`` are sets on which
refusing to choose a model is the right answer.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from sklearn.datasets import load_digits, load_sample_image

N_IMAGES = 12_000
SEED = 20261118

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ImageSet:
    """Images and the factors that made them.

    Attributes:
        images: Pixels, uint8, shape ``(n, height, width, channels)``.
        factors: One column per factor.
        kinds: Kind of each factor: ``"ordinal"``, ``"categorical"``, ``"continuous"``
            or ``"cyclic"``.
    """

    images: NDArray[np.uint8]
    factors: pd.DataFrame
    kinds: dict[str, str]


def blobs(generator: np.random.Generator) -> ImageSet:
    """8x8 gray: a soft spot that changes place and width."""
    x, y = generator.uniform(1.5, 5.5, (2, N_IMAGES))
    width = generator.uniform(0.7, 1.8, N_IMAGES)
    rows, columns = _pixels(8)
    squared = (columns - x[:, None, None]) ** 2 + (rows - y[:, None, None]) ** 2
    images = np.exp(-squared / (2 * width[:, None, None] ** 2))
    return _made(images[..., None], {"x": x, "y": y, "width": width})


def ellipses(generator: np.random.Generator) -> ImageSet:
    """24x24 gray: an ellipse that moves, grows and turns (180 degrees are a turn)."""
    x, y = generator.uniform(8, 15, (2, N_IMAGES))
    size = generator.uniform(3, 6, N_IMAGES)
    angle = generator.uniform(0, np.pi, N_IMAGES)
    images = _ellipse(24, x, y, size, 0.45 * size, angle)
    factors = {"x": x, "y": y, "size": size, "angle": angle / np.pi}
    return _made(images[..., None], factors, cyclic=("angle",))


def discs(generator: np.random.Generator) -> ImageSet:
    """16x16 color: a disc that moves, grows and changes its hue."""
    x, y = generator.uniform(4, 11, (2, N_IMAGES))
    size = generator.uniform(2, 4.5, N_IMAGES)
    hue = generator.uniform(0, 1, N_IMAGES)
    mask = _ellipse(16, x, y, size, size, np.zeros(N_IMAGES))
    images = mask[..., None] * _rgb(hue)[:, None, None]
    return _made(images, {"x": x, "y": y, "size": size, "hue": hue}, cyclic=("hue",))


def shapes(generator: np.random.Generator) -> ImageSet:
    """16x16 gray: a square, disc or triangle that moves and grows in steps."""
    return _shapes(generator, correlation=0.0)


def correlated(generator: np.random.Generator) -> ImageSet:
    """The same shapes, but larger ones tend to stand on the right (correlation 0.7)."""
    return _shapes(generator, correlation=0.7)


def squares(generator: np.random.Generator) -> ImageSet:
    """16x16 gray: a square with its place, size and gray level."""
    x, y = generator.uniform(4, 11, (2, N_IMAGES))
    size = generator.uniform(1.5, 4, N_IMAGES)
    level = generator.uniform(0.3, 1, N_IMAGES)
    images = _square(16, x, y, size) * level[:, None, None]
    return _made(images[..., None], {"x": x, "y": y, "size": size, "level": level})


def bars(generator: np.random.Generator) -> ImageSet:
    """16x16 gray: a horizontal and a vertical bar with place and brightness."""
    row, column = generator.uniform(2, 13, (2, N_IMAGES))
    first, second = generator.uniform(0.25, 1, (2, N_IMAGES))
    rows, columns = _pixels(16)
    across = _soft(1.5 - np.abs(rows - row[:, None, None])) * first[:, None, None]
    down = _soft(1.5 - np.abs(columns - column[:, None, None])) * second[:, None, None]
    factors = {"row": row, "column": column, "row light": first, "column light": second}
    return _made(np.maximum(across, down)[..., None], factors)


def dials(generator: np.random.Generator) -> ImageSet:
    """32x32 gray: two dials with one hand each, and the brightness of the rim."""
    left, right = generator.uniform(0, 1, (2, N_IMAGES))
    rim = generator.uniform(0.2, 1, N_IMAGES)
    rows, columns = _pixels(32)
    images = np.zeros((N_IMAGES, 32, 32))
    for center, turn in ((8.0, left), (23.0, right)):
        angle = 2 * np.pi * turn[:, None, None]
        down, across = rows - 15.5, columns - center
        along = across * np.cos(angle) + down * np.sin(angle)
        aside = np.abs(across * np.sin(angle) - down * np.cos(angle))
        hand = _soft(1.2 - aside) * _soft(5.5 - along) * _soft(along + 0.5)
        ring = _soft(1.0 - np.abs(np.hypot(down, across) - 7))
        images = np.maximum(images, hand)
        images = np.maximum(images, ring * rim[:, None, None])
    factors = {"left": left, "right": right, "rim": rim}
    return _made(images[..., None], factors, cyclic=("left", "right"))


def digits(generator: np.random.Generator) -> ImageSet:
    """16x16 gray, real pixels: handwritten digits 0, 1 and 4 that move and fade."""
    pictures = load_digits()
    chosen = np.flatnonzero(np.isin(pictures.target, (0, 1, 4)))
    which = generator.choice(chosen, N_IMAGES)
    x, y = generator.integers(0, 9, (2, N_IMAGES))
    contrast = generator.uniform(0.35, 1, N_IMAGES)
    images = np.zeros((N_IMAGES, 16, 16))
    for row in range(N_IMAGES):
        picture = pictures.images[which[row]] / 16 * contrast[row]
        images[row, y[row] : y[row] + 8, x[row] : x[row] + 8] = picture
    factors = {"digit": pictures.target[which], "x": x, "y": y, "contrast": contrast}
    kinds = {"digit": "categorical", "x": "ordinal", "y": "ordinal"}
    return _made(images[..., None], factors, **kinds)


def faces(generator: np.random.Generator) -> ImageSet:
    """24x24 gray: drawn faces with width, eye distance, smile and gaze."""
    width = generator.uniform(6.5, 10.5, N_IMAGES)
    apart = generator.uniform(2.2, 4.8, N_IMAGES)
    smile, gaze = generator.uniform(-1, 1, (2, N_IMAGES))
    rows, columns = _pixels(24)
    middle = np.full(N_IMAGES, 11.5)
    zeros = np.zeros(N_IMAGES)
    images = 0.6 * _ellipse(24, middle, middle, width, np.full(N_IMAGES, 10.5), zeros)
    for side in (-1, 1):
        x = middle + side * apart
        white = _ellipse(24, x, zeros + 8.5, zeros + 2.0, zeros + 1.6, zeros)
        images = np.maximum(images, white)
        pupil = _ellipse(24, x + gaze, zeros + 8.5, zeros + 0.9, zeros + 0.9, zeros)
        images = images * (1 - pupil)
    across = (columns - 11.5) / 4
    curve = 16.0 + 2.2 * smile[:, None, None] * (0.5 - across**2)
    mouth = _soft(0.9 - np.abs(rows - curve)) * _soft(4.2 - np.abs(columns - 11.5))
    images = images * (1 - mouth)
    factors = {"width": width, "eyes apart": apart, "smile": smile, "gaze": gaze}
    return _made(images[..., None], factors)


def photograph(generator: np.random.Generator) -> ImageSet:
    """16x16 color, real pixels: a window on a photograph, brightness and tint."""
    picture = load_sample_image("china.jpg").astype(np.float64) / 255
    # One pixel of the window is the mean of 12 x 12 pixels of the photograph.
    height, width = (side // 12 * 12 for side in picture.shape[:2])
    coarse = picture[:height, :width].reshape(height // 12, 12, width // 12, 12, 3)
    coarse = coarse.mean(axis=(1, 3))
    x = generator.integers(0, 12, N_IMAGES)
    y = generator.integers(0, 12, N_IMAGES)
    light = generator.uniform(0.4, 1, N_IMAGES)
    tint = generator.uniform(-0.3, 0.3, N_IMAGES)
    windows = np.lib.stride_tricks.sliding_window_view(coarse, (16, 16), axis=(0, 1))
    images = np.moveaxis(windows[y, x + 8], 1, -1) * light[:, None, None, None]
    images[..., 0] *= 1 + tint[:, None, None]
    images[..., 2] *= 1 - tint[:, None, None]
    factors = {"x": x, "y": y, "light": light, "tint": tint}
    return _made(images, factors, x="ordinal", y="ordinal")


def tiles(generator: np.random.Generator) -> ImageSet:
    """32x32 color: a disc or a square on a ground, the hue of each, and its place."""
    x, y = generator.uniform(9, 22, (2, N_IMAGES))
    hue, ground = generator.uniform(0, 1, (2, N_IMAGES))
    shape = generator.integers(0, 2, N_IMAGES)
    size = np.full(N_IMAGES, 6.0)
    disc = _ellipse(32, x, y, 1.1 * size, 1.1 * size, np.zeros(N_IMAGES))
    mask = np.where(shape[:, None, None] == 0, disc, _square(32, x, y, size))[..., None]
    images = mask * _rgb(hue)[:, None, None]
    images += (1 - mask) * 0.5 * _rgb(ground)[:, None, None]
    factors = {"x": x, "y": y, "hue": hue, "ground": ground, "shape": shape}
    return _made(images, factors, cyclic=("hue", "ground"), shape="categorical")


def noise(generator: np.random.Generator) -> ImageSet:
    """12x12 gray: independent pixels, in which there is nothing to find."""
    images = generator.uniform(0, 1, (N_IMAGES, 12, 12, 1))
    return _made(images, {})


def slide(generator: np.random.Generator) -> ImageSet:
    """16x16 gray: a single factor, a square that slides from left to right."""
    x = generator.uniform(3, 12, N_IMAGES)
    images = _square(16, x, np.full(N_IMAGES, 7.5), np.full(N_IMAGES, 2.5))
    return _made(images[..., None], {"x": x})


def flower(generator: np.random.Generator) -> ImageSet:
    """16x16 gray, real pixels: crops of a photograph of a flower, near or far."""
    # The held-out photograph is another one, in color, and without zoom.
    picture = Image.fromarray(load_sample_image("flower.jpg")).convert("L").reduce(4)
    side = generator.uniform(48, 84, N_IMAGES)
    x = generator.uniform(54, 106, N_IMAGES)
    y = generator.uniform(43, 63, N_IMAGES)
    corners = zip(x - side / 2, y - side / 2, x + side / 2, y + side / 2, strict=True)
    crops = [
        picture.resize((16, 16), Image.Resampling.BOX, box=tuple(corner))
        for corner in corners
    ]
    images = np.stack([np.asarray(crop) for crop in crops]) / 255
    return _made(images[..., None], {"x": x, "y": y, "zoom": 48 / side})


def signs(generator: np.random.Generator) -> ImageSet:
    """16x16 gray: a club, diamond, heart or spade of a font, its place and size."""
    sizes = np.linspace(6, 10, 6)
    drawings = np.stack(
        [[_symbol(sign, size) for size in sizes] for sign in "\x7c\x7d\x7e\xc4"]
    )
    sign, size = (generator.integers(0, n, N_IMAGES) for n in drawings.shape[:2])
    x, y = generator.integers(0, 7, (2, N_IMAGES))
    # A symbol is at most 10 pixels wide and high, in the middle of 16.
    images = np.zeros((N_IMAGES, 22, 22))
    for row in range(N_IMAGES):
        place = slice(y[row], y[row] + 16), slice(x[row], x[row] + 16)
        images[row][place] = drawings[sign[row], size[row]]
    factors = {"sign": sign, "size": size, "x": x, "y": y}
    kinds = dict.fromkeys(factors, "ordinal") | {"sign": "categorical"}
    return _made(images[:, 3:19, 3:19, None], factors, **kinds)


SETS: dict[str, Callable[[np.random.Generator], ImageSet]] = {
    each.__name__: each
    for each in (
        *(blobs, ellipses, discs, shapes, correlated, squares, bars, dials, digits),
        *(faces, photograph, tiles),
        *(noise, slide),
        *(flower, signs),
    )
}
HELD_OUT = ("faces", "photograph", "tiles")
REFUSED = ("noise", "slide")


def make_set(name: str) -> ImageSet:
    """Return a set by name; the same pixels at every call."""
    return SETS[name](np.random.default_rng([SEED, list(SETS).index(name)]))


def write_set(name: str, folder: Path) -> str:
    """Write a set to a folder, and return the text that ``unbraid`` opens it by."""
    images, table = folder / f"{name}.npy", folder / f"{name}.csv"
    if not table.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        made = make_set(name)
        np.save(images, made.images)
        made.factors.to_csv(table, index=False)
    return str(images)


def _shapes(generator: np.random.Generator, *, correlation: float) -> ImageSet:
    n_steps = 8
    drawn = generator.normal(size=(2, N_IMAGES))
    drawn[1] = correlation * drawn[0] + np.sqrt(1 - correlation**2) * drawn[1]
    ranks = drawn.argsort(axis=1).argsort(axis=1) / N_IMAGES
    x, size = (ranks * n_steps).astype(np.int64)
    y = generator.integers(0, n_steps, N_IMAGES)
    shape = generator.integers(0, 3, N_IMAGES)
    place = [4.5 + part for part in (x, y)]
    radius = 2 + 0.3 * size
    drawings = [
        _square(16, *place, 0.9 * radius),
        _ellipse(16, *place, radius, radius, np.zeros(N_IMAGES)),
        _triangle(16, *place, 1.2 * radius),
    ]
    images = np.choose(shape[:, None, None], drawings)
    factors = {"shape": shape, "size": size, "x": x, "y": y}
    kinds = {"shape": "categorical", "size": "ordinal", "x": "ordinal", "y": "ordinal"}
    return _made(images[..., None], factors, **kinds)


def _made(
    images: Floats,
    factors: dict[str, NDArray],
    *,
    cyclic: tuple[str, ...] = (),
    **kinds: str,
) -> ImageSet:
    pixels = np.round(255 * np.clip(images, 0, 1)).astype(np.uint8)
    known = dict.fromkeys(factors, "continuous") | dict.fromkeys(cyclic, "cyclic")
    return ImageSet(pixels, pd.DataFrame(factors), known | kinds)


def _pixels(side: int) -> tuple[Floats, Floats]:
    return np.meshgrid(np.arange(side), np.arange(side), indexing="ij")


def _soft(distance: Floats) -> Floats:
    """Coverage of a pixel at a signed distance from an edge, positive inside."""
    return np.clip(distance + 0.5, 0, 1)


def _square(side: int, x: Floats, y: Floats, half: Floats) -> Floats:
    rows, columns = _pixels(side)
    across = half[:, None, None] - np.abs(columns - x[:, None, None])
    return _soft(across) * _soft(half[:, None, None] - np.abs(rows - y[:, None, None]))


def _ellipse(
    side: int, x: Floats, y: Floats, long: Floats, short: Floats, angle: Floats
) -> Floats:
    rows, columns = _pixels(side)
    down, across = rows - y[:, None, None], columns - x[:, None, None]
    cosine, sine = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    first = (across * cosine + down * sine) / long[:, None, None]
    second = (down * cosine - across * sine) / short[:, None, None]
    mean = np.sqrt(long * short)[:, None, None]
    return _soft((1 - np.hypot(first, second)) * mean)


def _triangle(side: int, x: Floats, y: Floats, size: Floats) -> Floats:
    """A triangle that points upwards."""
    rows, columns = _pixels(side)
    down, across = rows - y[:, None, None], np.abs(columns - x[:, None, None])
    size = size[:, None, None]
    slanted = (0.5 * size - across * 0.866 * 1.15 + 0.5 * down * 1.15) * 0.87
    return _soft(np.minimum(slanted, 0.7 * size - down))


def _symbol(character: str, size: float) -> Floats:
    """Draw a symbol of TeX's math font in the middle of 16x16 pixels."""
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    finer = 16
    font = ImageFont.truetype(fonts / "cmsy10.ttf", 200)
    left, top, right, bottom = font.getbbox(character)
    drawn = Image.new("L", (int(right - left), int(bottom - top)))
    ImageDraw.Draw(drawn).text((-left, -top), character, fill=255, font=font)
    scale = size * finer / max(drawn.size)
    width, height = (round(scale * side) for side in drawn.size)
    canvas = Image.new("L", (16 * finer, 16 * finer))
    corner = (canvas.width - width) // 2, (canvas.height - height) // 2
    canvas.paste(drawn.resize((width, height)), corner)
    return np.asarray(canvas.reduce(finer)) / 255


def _rgb(hue: Floats) -> Floats:
    """Bright colors of a hue from 0 to 1, shape ``(n, 3)``."""
    turns = 2 * np.pi * (hue[:, None] + np.array([0, 1 / 3, 2 / 3]))
    return 0.55 + 0.45 * np.cos(turns)


def draw_examples(path: Path) -> None:
    """Draw twelve images of every set, one row per set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, len(SETS)))
    axes = figure.subplots(len(SETS), 12)
    for row, name in zip(axes, SETS, strict=True):
        made = make_set(name)
        for place, axis in enumerate(row):
            axis.imshow(made.images[place].squeeze(), cmap="gray", vmin=0, vmax=255)
            axis.set_axis_off()
        row[0].set_title(name, loc="left", fontsize=9)
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    draw_examples(Path(sys.argv[1]))
