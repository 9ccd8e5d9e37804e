"""Linear models, for which scores are known in closed form."""

import numpy as np
import torch

from unbraid.models import LinearModel


def linear_model(directions):
    """A model whose latents add the given rows to an image, read by the inverse."""
    directions = np.asarray(directions, dtype=np.float64)
    n_latents, n_pixels = directions.shape
    model = LinearModel((n_pixels,), n_latents)
    model.decoding[:] = torch.as_tensor(directions)
    model.encoding[:] = torch.as_tensor(np.linalg.pinv(directions))
    return model


def permuted_model(model, order):
    """The same model with its latents in another order."""
    return linear_model(model.decoding.numpy()[order])
