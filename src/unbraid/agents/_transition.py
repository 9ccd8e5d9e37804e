"""Transition model: what an action does to a slot."""

import itertools
from dataclasses import dataclass
from typing import Self

import torch
from torch import nn

from unbraid.foundation import check_shape, torch_generator


@dataclass(frozen=True)
class Transitions:
    """Steps in an environment, seen through an encoder.

    Attributes:
        slots: Slots before the action, ``(n, n_slots, n_latents)``.
        actions: Actions, ``(n, 4)``.
        next_slots: Slots after the action, in any order, same shape as ``slots``.
        rewards: Rewards, ``(n,)``.
    """

    slots: torch.Tensor
    actions: torch.Tensor
    next_slots: torch.Tensor
    rewards: torch.Tensor

    def __post_init__(self) -> None:
        n, n_slots, n_latents = self.slots.shape
        check_shape("next_slots", self.next_slots, (n, n_slots, n_latents))
        check_shape("actions", self.actions, (n, 4))
        check_shape("rewards", self.rewards, (n,))

    def __len__(self) -> int:
        return len(self.rewards)

    @classmethod
    def join(cls, *parts: Self) -> Self:
        """Put several records after one another."""
        names = ("slots", "actions", "next_slots", "rewards")
        return cls(*(torch.cat([getattr(part, n) for part in parts]) for n in names))


class TransitionModel(nn.Module):
    r"""Predicts each slot from itself and the action, with the same network.

    .. math:: z_k' = z_k + s \, f\bigl((z_k - \mu) / s, a\bigr)

    where :math:`\mu` is the mean of each latent and :math:`s` one scale for all of
    them, so that latents which hardly vary stay small.

    Args:
        slots: Slots from which mean and scale are taken, ``(n, n_slots, n_latents)``.
        width: Units of the two hidden layers.
        seed: Seed of the initial weights.

    Example:
        >>> model = TransitionModel(torch.zeros(5, 3, 2))
        >>> model(torch.zeros(5, 3, 2), torch.zeros(5, 4)).shape
        torch.Size([5, 3, 2])

    References:
        Watters et al. (2019), COBRA, section on the transition model.
        https://arxiv.org/abs/1905.09275
        Theirs is trained on the pixels that the slots are decoded to; here predicted
        slots are compared with the slots that came, in the order that fits best, so
        that an encoder needs no decoder.
    """

    center: torch.Tensor
    scale: torch.Tensor

    def __init__(self, slots: torch.Tensor, *, width: int = 64, seed: int = 0) -> None:
        super().__init__()
        rows = slots.flatten(0, 1)
        n_latents = rows.shape[1]
        spread = rows.var(dim=0, correction=0).sum().sqrt().clamp(min=1e-6)
        self.register_buffer("center", rows.mean(dim=0))
        self.register_buffer("scale", spread)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(torch_generator(seed, "transition model").initial_seed())
            self.layers = nn.Sequential(
                nn.Linear(n_latents + 4, width),
                nn.ReLU(),
                nn.Linear(width, width),
                nn.ReLU(),
                nn.Linear(width, n_latents),
            )

    def forward(self, slots: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Predict slots ``(n, n_slots, n_latents)`` after actions ``(n, 4)``."""
        repeated = actions[:, None].expand(-1, slots.shape[1], -1)
        inputs = torch.cat([self.standardize(slots), 2 * repeated - 1], dim=2)
        return slots + self.scale * self.layers(inputs)

    def standardize(self, slots: torch.Tensor) -> torch.Tensor:
        """Slots with mean 0, and variances that add up to 1 over latents."""
        return (slots - self.center) / self.scale

    def errors(self, transitions: Transitions) -> torch.Tensor:
        """Squared error of each prediction, relative to the scale, ``(n,)``."""
        predicted = self(transitions.slots, transitions.actions)
        return matched_errors(predicted, transitions.next_slots) / self.scale**2


def matched_errors(predicted: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
    """Squared distance of two sets of slots in the order that fits best.

    Args:
        predicted: One set per row, ``(n, n_slots, n_latents)``.
        slots: The other set, same shape.

    Returns:
        Sums over slots and latents, ``(n,)``.

    Example:
        >>> first = torch.tensor([[[0.0], [1.0], [5.0]]])
        >>> matched_errors(first, torch.tensor([[[5.0], [0.0], [3.0]]]))
        tensor([4.])
    """
    n_slots = slots.shape[1]
    costs = (predicted[:, :, None] - slots[:, None]).square().sum(dim=3)
    orders = torch.tensor(list(itertools.permutations(range(n_slots))))
    totals = costs[:, torch.arange(n_slots), orders].sum(dim=2)
    return totals.amin(dim=1)


def train_transitions(
    model: TransitionModel,
    transitions: Transitions,
    *,
    n_updates: int = 1000,
    batch_size: int = 64,
    learning_rate: float = 2e-3,
    seed: int = 0,
) -> float:
    """Train a transition model on steps that were seen.

    Args:
        model: Model to train, changed in place.
        transitions: Recorded steps to learn from.
        n_updates: Number of updates.
        batch_size: Number of steps per update.
        learning_rate: Learning rate of Adam.
        seed: Seed of the batches.

    Returns:
        Mean error of the last tenth of the updates; see
        :meth:`TransitionModel.errors`.
    """
    generator = torch_generator(seed, "transition model")
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    losses = []
    for _ in range(n_updates):
        rows = torch.randint(len(transitions), (batch_size,), generator=generator)
        loss = model.errors(select(transitions, rows)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    last = losses[-max(1, n_updates // 10) :]
    return sum(last) / len(last)


def select(transitions: Transitions, rows: torch.Tensor) -> Transitions:
    """Return some of the steps."""
    return Transitions(
        transitions.slots[rows],
        transitions.actions[rows],
        transitions.next_slots[rows],
        transitions.rewards[rows],
    )
