"""Learning the clustering task: one-step search with a reward that is learned."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from unbraid.foundation import torch_generator

from ._environment import ClusteringEnvironment
from ._exploration import AbstractPolicy, RandomPolicy, Walk
from ._reward import RewardPredictor, train_reward
from ._slots import Encoder, read_slots
from ._transition import TransitionModel, Transitions

SUCCESS_RATE = 0.9
"""Share of solved episodes at which the task counts as learned."""

_REWARD_SCALE = 10.0


@dataclass(frozen=True, kw_only=True)
class LearningSettings:
    """How an agent learns the reward, and how it is tested.

    Attributes:
        max_steps: Steps in the environment after which a run is given up.
        every: Steps between two tests.
        n_updates: Updates of the reward predictor per step.
        n_candidates: Actions that the search compares.
        exploration: Share of actions that are not searched for while learning.
        n_tests: Episodes per test.
        width: Units of the hidden layers of the reward predictor.
        learning_rate: Learning rate of the reward predictor.
    """

    max_steps: int = 2000
    every: int = 25
    n_updates: int = 4
    n_candidates: int = 64
    exploration: float = 0.2
    n_tests: int = 20
    width: int = 64
    learning_rate: float = 2e-3


@dataclass(frozen=True)
class LearningCurve:
    """Success of one agent while it learns.

    Attributes:
        steps: Steps in the environment before each test.
        success_rates: Share of solved episodes in each test.
    """

    steps: list[int] = field(default_factory=list)
    success_rates: list[float] = field(default_factory=list)

    @property
    def is_solved(self) -> bool:
        """Whether the last test reached the success rate of 90%."""
        return bool(self.success_rates) and self.success_rates[-1] >= SUCCESS_RATE


class Agent(AbstractPolicy):
    """Takes the action that leads to the slots with the highest predicted reward.

    Args:
        encoder: See :func:`read_slots`.
        transition: Trained transition model.
        predictor: Reward predictor, on standardized slots.
        policy: Policy that proposes actions.
        n_candidates: Number of actions that are compared.
    """

    def __init__(
        self,
        encoder: Encoder,
        transition: TransitionModel,
        predictor: RewardPredictor,
        *,
        policy: AbstractPolicy | None = None,
        n_candidates: int = 64,
    ) -> None:
        self.encoder, self.transition, self.predictor = encoder, transition, predictor
        self.policy = policy or RandomPolicy()
        self.n_candidates = n_candidates

    @torch.no_grad()
    def choose(self, slots: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Actions ``(n, 4)`` with the highest predicted reward."""
        repeated = slots.repeat_interleave(self.n_candidates, dim=0)
        actions = self.policy.choose(repeated, generator)
        predicted = self.transition(repeated, actions)
        rewards = self.predictor(self.transition.standardize(predicted))
        best = rewards.view(len(slots), self.n_candidates).argmax(dim=1)
        return actions.view(len(slots), self.n_candidates, 4)[range(len(slots)), best]

    def test(
        self, environments: Sequence[ClusteringEnvironment], *, seed: int
    ) -> float:
        """Share of episodes that the agent solves, one in each environment."""
        generator = torch_generator(seed, "test")
        running = list(environments)
        states = [
            environment.reset(seed=torch_generator(seed, i).initial_seed())
            for i, environment in enumerate(running)
        ]
        n_solved = 0
        while running:
            images = np.stack([observation for observation, _ in states])
            masks = np.stack([info["masks"] for _, info in states])
            slots = read_slots(self.encoder, images, masks)
            actions = self.choose(slots, generator)
            tried, running, states = running, [], []
            for environment, action in zip(tried, actions, strict=True):
                observation, _, is_solved, is_late, info = environment.step(action)
                n_solved += is_solved
                if not is_solved and not is_late:
                    running.append(environment)
                    states.append((observation, info))
        return n_solved / len(environments)


class MixedPolicy(AbstractPolicy):
    """Follows one policy, and now and then another.

    Args:
        usual: Policy that is followed most of the time.
        other: Policy that is followed otherwise.
        share: Share of actions that the other policy chooses, from 0 to 1.
    """

    def __init__(
        self, usual: AbstractPolicy, other: AbstractPolicy, *, share: float
    ) -> None:
        self.usual, self.other, self.share = usual, other, share

    def choose(self, slots: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Actions of one of the policies, the same one for all rows."""
        is_other = torch.rand((), generator=generator) < self.share
        policy = self.other if is_other else self.usual
        return policy.choose(slots, generator)


def learn_task(
    environment: ClusteringEnvironment,
    tests: Sequence[ClusteringEnvironment],
    encoder: Encoder,
    transition: TransitionModel,
    *,
    settings: LearningSettings | None = None,
    policy: AbstractPolicy | None = None,
    seed: int = 0,
) -> LearningCurve:
    """Learn the reward of an environment until an agent solves nine of ten episodes.

    The agent acts in the environment, mostly by search, and its reward predictor is
    trained on all steps so far.

    Args:
        environment: Environment to learn in.
        tests: Environments of the same kind to test in; their steps do not count.
        encoder: See :func:`read_slots`.
        transition: Trained transition model of this encoder; it is not changed.
        settings: Settings of learning and testing.
        policy: Policy that proposes actions, random when not given.
        seed: Seed of the initial reward predictor, the episodes and the actions.

    Returns:
        The learning curve, which ends with the first test that is passed.
    """
    settings = settings or LearningSettings()
    predictor = RewardPredictor(len(transition.center), width=settings.width, seed=seed)
    optimizer = torch.optim.Adam(predictor.parameters(), lr=settings.learning_rate)
    agent = Agent(
        encoder,
        transition,
        predictor,
        policy=policy,
        n_candidates=settings.n_candidates,
    )
    mixed = MixedPolicy(agent, agent.policy, share=settings.exploration)
    generator = torch_generator(seed, "learning")
    curve, seen = LearningCurve(), None
    walk = Walk(environment, encoder, seed=seed)
    while not curve.is_solved and sum(curve.steps[-1:]) < settings.max_steps:
        new = walk.record(mixed, settings.every, generator)
        seen = new if seen is None else Transitions.join(seen, new)
        scaled = replace(
            seen,
            next_slots=transition.standardize(seen.next_slots),
            rewards=seen.rewards / _REWARD_SCALE,
        )
        n_updates = settings.n_updates * settings.every
        train_reward(
            predictor, optimizer, scaled, n_updates=n_updates, generator=generator
        )
        curve.steps.append(len(seen))
        curve.success_rates.append(agent.test(tests, seed=seed))
    return curve
