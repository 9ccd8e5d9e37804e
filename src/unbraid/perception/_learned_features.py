"""Learning features whose distances follow those of the factors."""

from collections.abc import Sequence

import torch
from torch import nn

from unbraid.data import AbstractDataset
from unbraid.foundation import (
    check_integer,
    check_positive,
    numpy_generator,
    torch_generator,
)
from unbraid.models import FeatureAugmented, Layer, extract_features

from ._labeled_pairs import labeled_rows
from ._train_distance import (
    Direction,
    DistanceTraining,
    LearnedLoss,
    pair_squares,
    read_images,
    require_difference,
)

_SMALLEST = 4
"""Side in pixels above which images are halved once more."""

_MEASURED = 256
"""Images from which the final scale of the features is determined."""


def learn_features(
    dataset: AbstractDataset,
    *,
    n_filters: int = 16,
    weight: float = 8.0,
    direction: Direction = "help",
    along_factors: float | None = None,
    steps: int = 500,
    batch_size: int = 64,
    n_pairs: int | None = None,
    learning_rate: float = 3e-3,
    regularization: float = 0.3,
    seed: int = 0,
    progress: bool = False,
) -> LearnedLoss[FeatureAugmented]:
    r"""Learn features with which distances between images follow those of factors.

    A kernel (:func:`learn_loss`) only blurs images, which is enough for objects that
    move. Features of a small convolutional network can also follow shapes, sizes and
    colors. As with a kernel, learning needs labels, but the loss can then be used
    without labels on other data of the same kind.

    .. math:: \max_h \; \rho \bigl( d_{\text{scaled}}(y, y'),\;
        \|x - x'\|^2 + a \, \|h(x) - h(x')\|^2 \bigr)

    The first layer keeps the size of the images; the next ones halve it until a side
    has four pixels; the last one is linear.

    Args:
        dataset: Dataset with labels. Combinations of factors and single labels may be
            missing: two images are compared in the factors that are known of both.
        n_filters: Number of features of every layer, at least 1.
        weight: Weight of the features relative to the pixels, positive: the ratio of
            their mean distances between random images. Distances follow the factors
            better if it is large, and reconstructions are better if it is small.
        direction: ``"help"`` maximizes the correlation, ``"hinder"`` minimizes it, for
            adversarial losses.
        along_factors: Weight of the correlation along single factors, from 0 to 1; the
            rest is the weight of the correlation of random pairs. Default: one half, or
            0 if combinations are missing and no three rows differ in one factor only.
        steps: Number of steps of Adam.
        batch_size: Images per step, at least 3.
        n_pairs: Pairs of these images to compare per step, drawn at random. Default:
            all.
        learning_rate: Learning rate of Adam; falls to 0 over the steps.
        regularization: Regularization of the soft ranks, see
            :func:`soft_rank_correlation`.
        seed: Seed of the initial weights and of the batches.
        progress: Whether to show the progress on a terminal.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> learned = learn_features(squares, n_filters=4, steps=20, batch_size=16)
        >>> learned.likelihood.features(torch.zeros(2, 3, 8, 8)).shape
        torch.Size([2, 4, 4, 4])

    References:
        Michlo (2022), dissertation, Eq. 6.1 to 6.3 with a network instead of a kernel,
        as section 6.1.2 recommends for more complex data. There the output has the size
        of the images; here it is smaller. Pairs along factors and missing labels are
        our addition.
    """
    labeled = labeled_rows("learn_features", dataset)
    check_integer("n_filters", n_filters, least=1)
    check_positive("weight", weight)
    training = DistanceTraining(
        direction=direction,
        along_factors=along_factors,
        steps=steps,
        batch_size=batch_size,
        n_pairs=n_pairs,
        learning_rate=learning_rate,
        regularization=regularization,
        progress=progress,
    )
    labeled.choose_share(along_factors)  # checks it before anything is computed
    generator = numpy_generator(seed, "learn features")
    measured = read_images(dataset, labeled.draw(_MEASURED, generator))
    require_difference("learn_features", pair_squares(measured.flatten(2)), _MEASURED)
    features = _TrainableFeatures(
        _first_layers(dataset.image_shape, n_filters, seed), weight
    )
    correlations = training.run(features, dataset, labeled, generator)
    likelihood = features.likelihood(measured)
    return LearnedLoss(likelihood=likelihood, correlations=correlations)


class _TrainableFeatures:
    """Distance of pixels, plus the distance of features.

    Args:
        layers: Initial weights and biases of each layer.
        weight: Ratio of the mean distances of features and of pixels.
    """

    def __init__(self, layers: Sequence[Layer], weight: float) -> None:
        self._layers = layers
        self._weight = weight

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Weights and biases of all layers."""
        return [tensor for layer in self._layers for tensor in layer]

    def distances(self, batches: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return distances of all pairs of each group, one array per batch.

        Features are scaled so that they have their weight in the first batch.
        """
        pixels = [pair_squares(images.flatten(2)) for images in batches]
        features = [self._apart(images) for images in batches]
        scale = self._scale(pixels[0], features[0])
        return [
            plain + scale * apart for plain, apart in zip(pixels, features, strict=True)
        ]

    def likelihood(self, images: torch.Tensor) -> FeatureAugmented:
        """Return the likelihood with these features.

        Args:
            images: Random images ``(1, n, channels, height, width)``, in which the
                features have their weight.
        """
        with torch.no_grad():
            pixels = pair_squares(images.flatten(2))
            scale = self._scale(pixels, self._apart(images))
            kernels, biases = self._layers[-1]
            # Linear, so that its size can be changed: with a weight of 1, features are
            # on average as far apart as pixels.
            size = (scale / self._weight).sqrt()
            last = (size * kernels, size * biases)
        return FeatureAugmented.from_layers(
            [*self._layers[:-1], last], weight=self._weight
        )

    def _apart(self, images: torch.Tensor) -> torch.Tensor:
        maps = extract_features(images.flatten(0, 1), self._layers)
        return pair_squares(maps.flatten(1).unflatten(0, images.shape[:2]))

    def _scale(self, pixels: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
        smallest = torch.finfo(features.dtype).tiny
        return self._weight * pixels.mean() / features.mean().clamp_min(smallest)


def _first_layers(
    image_shape: tuple[int, ...], n_filters: int, seed: int
) -> list[Layer]:
    """Return random layers; sides of 3 keep the size of images, sides of 4 halve it."""
    channels, *image_sides = image_shape
    n_halvings = 0
    while min(image_sides) >> n_halvings > _SMALLEST:
        n_halvings += 1
    sides = [3, *([4] * n_halvings), 3]
    widths = [channels, *([n_filters] * len(sides))]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_generator(seed, "features").initial_seed())
        layers = [
            nn.Conv2d(before, after, side)
            for before, after, side in zip(widths, widths[1:], sides, strict=False)
        ]
    return [(layer.weight, _bias(layer)) for layer in layers]


def _bias(layer: nn.Conv2d) -> torch.Tensor:
    assert layer.bias is not None
    return layer.bias
