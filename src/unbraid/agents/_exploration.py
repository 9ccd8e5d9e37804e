"""Exploration: which actions to try before there is a task."""

import abc
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from unbraid.foundation import torch_generator

from ._environment import ClusteringEnvironment
from ._slots import Encoder, read_slots
from ._transition import Transitions


class AbstractPolicy(abc.ABC):
    """Chooses actions from slots."""

    @abc.abstractmethod
    def choose(self, slots: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Actions ``(n, 4)`` for slots ``(n, n_slots, n_latents)``."""


class RandomPolicy(AbstractPolicy):
    """Clicks anywhere and pushes in any direction.

    Example:
        >>> RandomPolicy().choose(torch.zeros(2, 3, 1), torch.Generator()).shape
        torch.Size([2, 4])
    """

    def choose(self, slots: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Uniform actions, whatever the slots are."""
        return torch.rand(len(slots), 4, generator=generator)


class CuriousPolicy(AbstractPolicy):
    r"""Prefers actions whose outcome a transition model predicts badly.

    A network learns to predict the error of the transition model, :math:`\log(1 +
    e)`, from a slot and an action; the error of a scene is the sum over its slots. Of
    several random actions, the one with the largest predicted error is taken.

    Args:
        n_latents: Number of latents per slot.
        n_candidates: Number of random actions to choose from.
        width: Units of the hidden layer.
        seed: Seed of the initial weights and of training.

    References:
        Watters et al. (2019), COBRA, section on curiosity-driven exploration.
        https://arxiv.org/abs/1905.09275
        Theirs is a distribution of actions that is trained adversarially; here the
        adversary predicts the error, and actions are chosen by search.
    """

    def __init__(
        self, n_latents: int, *, n_candidates: int = 16, width: int = 64, seed: int = 0
    ) -> None:
        self.n_candidates = n_candidates
        self._seed, self._n_trainings = seed, 0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(torch_generator(seed, "curiosity").initial_seed())
            self.network = nn.Sequential(
                nn.Linear(n_latents + 4, width), nn.ReLU(), nn.Linear(width, 1)
            )

    @torch.no_grad()
    def choose(self, slots: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Random actions with the largest predicted errors."""
        n = len(slots)
        actions = torch.rand(n * self.n_candidates, 4, generator=generator)
        repeated = slots.repeat_interleave(self.n_candidates, dim=0)
        errors = self.predict(repeated, actions).view(n, self.n_candidates)
        best = errors.argmax(dim=1)
        return actions.view(n, self.n_candidates, 4)[torch.arange(n), best]

    def predict(self, slots: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Predicted logarithms of 1 + error, ``(n,)``."""
        repeated = actions[:, None].expand(-1, slots.shape[1], -1)
        per_slot = self.network(torch.cat([slots, repeated], dim=2))
        return per_slot.sum(dim=(1, 2))

    def train(
        self, transitions: Transitions, errors: torch.Tensor, *, n_updates: int = 200
    ) -> None:
        """Learn the errors of a transition model.

        Args:
            transitions: Steps that were seen.
            errors: Error of the transition model in each of them, ``(n,)``.
            n_updates: Number of updates of 64 steps each.
        """
        generator = torch_generator(self._seed, "curiosity", self._n_trainings)
        self._n_trainings += 1
        optimizer = torch.optim.Adam(self.network.parameters(), lr=2e-3)
        targets = errors.detach().log1p()
        for _ in range(n_updates):
            rows = torch.randint(len(transitions), (64,), generator=generator)
            predicted = self.predict(transitions.slots[rows], transitions.actions[rows])
            loss = (predicted - targets[rows]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def explore(
    environment: ClusteringEnvironment,
    encoder: Encoder,
    policy: AbstractPolicy,
    *,
    n_steps: int,
    seed: int = 0,
) -> Transitions:
    """Act in an environment, and record what an encoder sees.

    Args:
        environment: Environment to act in; it is reset first.
        encoder: See :func:`read_slots`.
        policy: Policy that chooses the actions.
        n_steps: Number of steps; a new episode begins when one ends.
        seed: Seed of the episodes and of the actions.

    Example:
        >>> environment = ClusteringEnvironment(image_size=8)
        >>> seen = explore(
        ...     environment, lambda x: x.mean(dim=(2, 3)), RandomPolicy(), n_steps=3
        ... )
        >>> seen.slots.shape, seen.rewards.shape
        (torch.Size([3, 4, 3]), torch.Size([3]))
    """
    walk = Walk(environment, encoder, seed=seed)
    return walk.record(policy, n_steps, torch_generator(seed, "exploration"))


class Walk:
    """Episodes in an environment, one after another, seen through an encoder.

    Args:
        environment: Environment to act in; it is reset first.
        encoder: See :func:`read_slots`.
        seed: Seed of the episodes.
    """

    def __init__(
        self, environment: ClusteringEnvironment, encoder: Encoder, *, seed: int
    ) -> None:
        self.environment, self.encoder = environment, encoder
        self._slots = self._read(*environment.reset(seed=seed))

    def record(
        self, policy: AbstractPolicy, n_steps: int, generator: torch.Generator
    ) -> Transitions:
        """Take the next steps; a new episode begins when one ends.

        Args:
            policy: Policy that chooses the actions.
            n_steps: Number of steps.
            generator: Source of the actions.
        """
        steps: list[Transitions] = []
        for _ in range(n_steps):
            actions = policy.choose(self._slots, generator)
            observation, reward, *ends, info = self.environment.step(actions[0])
            after = self._read(observation, info)
            rewards = torch.tensor([reward])
            steps.append(Transitions(self._slots, actions, after, rewards))
            self._slots = self._read(*self.environment.reset()) if any(ends) else after
        return Transitions.join(*steps)

    def _read(
        self, observation: NDArray[np.uint8], info: dict[str, Any]
    ) -> torch.Tensor:
        return read_slots(self.encoder, observation[None], info["masks"][None])
