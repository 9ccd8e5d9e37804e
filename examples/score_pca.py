"""Score the principal components of the sprites.

python examples/score_pca.py [--images 5000] [--components 10]
"""

import argparse

from sklearn.decomposition import PCA

import unbraid
from unbraid.data import Sprites2D
from unbraid.foundation import numpy_generator


def main() -> None:
    """Fit PCA on some images, encode them, and print the scorecard."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--components", type=int, default=10)
    arguments = parser.parse_args()

    sprites = Sprites2D(image_size=32)
    rows = numpy_generator(0, "pca").integers(0, len(sprites), arguments.images)
    images = sprites.images(rows).reshape(len(rows), -1) / 255
    pca = PCA(arguments.components, random_state=0).fit(images)

    # Anything with `transform` is an encoder.
    codes = unbraid.encode(pca, sprites, rows=rows)
    print(unbraid.evaluate(codes))


if __name__ == "__main__":
    main()
