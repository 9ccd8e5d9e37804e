"""PIPE: can a classifier distinguish decodings of permuted and real codes?"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from unbraid.foundation import check_count, numpy_generator, torch_generator
from unbraid.metrics import Score

from ._comparable import Coded
from ._model_access import Decoder, decode_codes, read_active, require_methods

_FEWEST_ROWS = 20
_WIDTH = 64
_EPOCHS = 20
_BATCH = 200
_LEARNING_RATE = 3e-3
_WEIGHT_DECAY = 1e-2


def pipe_score(
    model: Decoder,
    codes: Coded,
    *,
    n_rows: int = 2_000,
    kl_threshold: float = 0.01,
    seed: int = 0,
) -> Score:
    r"""Posterior indifference projection equivalence (PIPE) of one model.

    Decodings of real codes are mixed with decodings of codes of which every latent was
    permuted over the rows on its own. If the latents are independent and the decoder
    treats them independently, the two kinds of images cannot be distinguished. A small
    classifier tries to, and

    .. math:: 2 \, (1 - \text{accuracy})

    on images of other rows is 1 if it can only guess and 0 if it is always right. One
    model is enough: it is not compared with others.

    The classifier is a dense network with one hidden layer of 64 units, trained for 20
    epochs on one half of the rows and tested on the other half. Latents that are not
    active are held at their mean, so that invisible changes do not count. The published
    score permutes all latents and trains a convolutional network on many more images,
    so compare only scores that were computed here, with the same ``n_rows``.

    Args:
        model: Trained model with ``decode``.
        codes: Codes of the model, ``(n_rows, n_latents)``, a tuple of codes and
            log-variances, or a :class:`~unbraid.representation.Representation`.
        n_rows: Largest number of rows to use, drawn at random, at least 20.
        kl_threshold: Nats above which a latent is active. Without log-variances, all
            latents that vary are active.
        seed: Seed of the rows, the permutations and the classifier.

    Returns:
        Score from 0 to about 1, higher is better; NaN without active latents, and about
        1 with a single one, which no permutation can harm. ``details`` has
        ``accuracy``, the ``standard_error`` of the score, ``n_test`` and ``n_active``.

    Raises:
        TypeError: If the model has no ``decode``.
        ValueError: If codes or options are not as above.

    Example:
        >>> from unbraid.models import LinearModel
        >>> model = LinearModel((2,), 2)
        >>> model.decoding[:] = torch.eye(2)
        >>> codes = np.random.default_rng(0).choice([-1.0, 1.0], size=(1000, 2))
        >>> pipe_score(model, codes) > 0.9
        True
        >>> same = codes[:, [0, 0]]  # half of the permuted rows have two signs
        >>> 0.4 < pipe_score(model, same) < 0.6
        True

    References:
        Estermann and Wattenhofer (2023), DAVA: Disentangling Adversarial Variational
        Autoencoder, definition of PIPE. https://arxiv.org/abs/2303.01384
        Here latents are permuted, which is one of two choices of the released code.
    """
    caller = "pipe_score"
    require_methods(caller, model, "decode")
    check_count(f"{caller}: n_rows", n_rows, least=_FEWEST_ROWS)
    found = read_active(caller, codes, kl_threshold=kl_threshold)
    rows_of_codes = f"{caller}: the number of rows of codes"
    check_count(rows_of_codes, len(found.codes), least=_FEWEST_ROWS)
    if not found.n_active:
        return Score(np.nan, name="pipe", seed=seed, note="no active latent")
    generator = numpy_generator(seed, caller)
    rows = generator.permutation(len(found.codes))[:n_rows]
    visible = np.tile(found.codes.mean(axis=0), (len(found.codes), 1))
    visible[:, found.active] = found.codes[:, found.active]
    halves = [
        _labeled_images(caller, model, visible[half], generator)
        for half in np.array_split(rows, 2)
    ]
    (images, labels), (test_images, test_labels) = halves
    scale = (images - images.mean(dim=0)).square().mean().sqrt().clamp(min=1e-12)
    center = images.mean(dim=0)
    classifier = _train((images - center) / scale, labels, seed=seed)
    with torch.no_grad():
        logits = classifier((test_images - center) / scale)[:, 0]
    accuracy = float(((logits > 0) == (test_labels > 0.5)).double().mean())
    n_test = len(test_labels)
    return Score(
        2.0 * (1.0 - accuracy),
        name="pipe",
        details={
            "accuracy": accuracy,
            "standard_error": 2.0 * np.sqrt(accuracy * (1.0 - accuracy) / n_test),
            "n_test": n_test,
            "n_active": found.n_active,
        },
        seed=seed,
    )


def _labeled_images(
    caller: str,
    model: Decoder,
    codes: NDArray[np.float64],
    generator: np.random.Generator,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return flat decodings of codes (label 0) and of permuted codes (label 1)."""
    permuted = generator.permuted(codes, axis=0)
    images = decode_codes(caller, model, np.concatenate([codes, permuted]))
    labels = torch.arange(2).repeat_interleave(len(codes)).float()
    return images.flatten(1).float().cpu(), labels


def _train(images: torch.Tensor, labels: torch.Tensor, *, seed: int) -> nn.Module:
    """Train a dense network to predict the labels of flat images."""
    generator = torch_generator(seed, "pipe classifier")
    # Parameters are drawn from the generator below, not from the global one.
    network = nn.Sequential(
        nn.utils.skip_init(nn.Linear, images.shape[1], _WIDTH),
        nn.ReLU(),
        nn.utils.skip_init(nn.Linear, _WIDTH, 1),
    )
    for parameter in network.parameters():
        if parameter.ndim == 2:
            nn.init.xavier_uniform_(parameter, generator=generator)
        else:
            nn.init.zeros_(parameter)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY
    )
    loss = nn.BCEWithLogitsLoss()
    with torch.enable_grad():
        for _ in range(_EPOCHS):
            order = torch.randperm(len(images), generator=generator)
            for rows in order.split(_BATCH):
                optimizer.zero_grad()
                loss(network(images[rows])[:, 0], labels[rows]).backward()
                optimizer.step()
    return network
