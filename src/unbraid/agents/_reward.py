"""Reward predictor: how good a set of slots is."""

import torch
from torch import nn

from unbraid.foundation import torch_generator

from ._transition import Transitions


class RewardPredictor(nn.Module):
    r"""Predicts the reward of a set of slots, whatever their order.

    .. math:: r = g \Bigl( \frac{1}{n} \sum_{i \neq j} f(z_i, z_j) \Bigr)

    where :math:`n` is the number of pairs.

    Args:
        n_latents: Number of latents per slot.
        width: Units of the hidden layers.
        seed: Seed of the initial weights.

    Example:
        >>> slots = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
        >>> predictor = RewardPredictor(3)
        >>> first, again = predictor(slots), predictor(slots[:, [2, 0, 3, 1]])
        >>> bool(torch.allclose(first, again, atol=1e-5))
        True
    """

    def __init__(self, n_latents: int, *, width: int = 64, seed: int = 0) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(torch_generator(seed, "reward predictor").initial_seed())
            self.pairs = nn.Sequential(
                nn.Linear(2 * n_latents, width),
                nn.ReLU(),
                nn.Linear(width, width),
                nn.ReLU(),
            )
            self.whole = nn.Sequential(
                nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
            )

    def forward(self, slots: torch.Tensor) -> torch.Tensor:
        """Predicted rewards ``(n,)`` of slots ``(n, n_slots, n_latents)``."""
        n_slots = slots.shape[1]
        first, second = torch.triu_indices(n_slots, n_slots, 1)
        left, right = slots[:, first], slots[:, second]
        ordered = torch.cat([left, right], dim=2), torch.cat([right, left], dim=2)
        features = self.pairs(torch.cat(ordered, dim=1)).mean(dim=1)
        return self.whole(features)[:, 0]


def train_reward(
    predictor: RewardPredictor,
    optimizer: torch.optim.Optimizer,
    seen: Transitions,
    *,
    n_updates: int,
    generator: torch.Generator,
    batch_size: int = 64,
) -> float:
    """Train a reward predictor on the slots and rewards after each step.

    Args:
        predictor: Predictor to train, changed in place.
        optimizer: Optimizer of its parameters.
        seen: Recorded steps to learn from.
        n_updates: Number of updates.
        generator: Source of the batches.
        batch_size: Number of steps per update.

    Returns:
        Mean squared error of the last update.
    """
    error = torch.zeros(())
    for _ in range(n_updates):
        rows = torch.randint(len(seen), (batch_size,), generator=generator)
        predicted = predictor(seen.next_slots[rows])
        error = (predicted - seen.rewards[rows]).square().mean()
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
    return error.item()
