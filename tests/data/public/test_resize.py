import numpy as np
from PIL import Image

from unbraid.data.public._resize import resize_square, resized_label
from unbraid.foundation import numpy_generator


def test_half_the_size_is_bilinear():
    # Michlo (2022), section A.3.3. At half the size a triangle covers four pixels,
    # which weigh 1, 3, 3 and 1 eighths.
    picture = numpy_generator(0).integers(0, 256, (32, 32), dtype=np.uint8)
    line = np.array([1, 3, 3, 1]) / 8
    small = resize_square(Image.fromarray(picture), 16)
    for row, column in ((1, 1), (7, 4), (14, 13)):
        part = picture[2 * row - 1 : 2 * row + 3, 2 * column - 1 : 2 * column + 3]
        assert abs(line @ part @ line - float(small[row, column])) <= 1.0


def test_an_edge_has_no_ringing():
    # A Lanczos filter would make pixels beside a bright edge darker than the ground.
    picture = np.full((64, 64), 100, dtype=np.uint8)
    picture[:, 32:] = 200
    small = resize_square(Image.fromarray(picture), 24)
    assert small.min() == 100
    assert small.max() == 200


def test_files_name_the_filter_they_were_made_with():
    # Files of images that were resized with another filter are called 64px only.
    assert resized_label(64) == "64px-bilinear"
