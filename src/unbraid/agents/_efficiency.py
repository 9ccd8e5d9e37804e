"""Sample efficiency: steps until an agent with a given encoder solves the task."""

import copy
from dataclasses import dataclass

import numpy as np

from unbraid.foundation import check_integer, torch_generator
from unbraid.metrics import Score

from ._environment import ClusteringEnvironment
from ._exploration import AbstractPolicy, CuriousPolicy, RandomPolicy, Walk
from ._learning import LearningCurve, LearningSettings, learn_task
from ._slots import Encoder
from ._transition import TransitionModel, Transitions, train_transitions


@dataclass(frozen=True)
class AgentResult:
    """Sample efficiency of an encoder.

    Attributes:
        score: Median over runs of the steps until 90% of test episodes are solved,
            lower is better.
        curves: Learning curve of each run.
        transition_error: Error of the transition model; see
            :meth:`TransitionModel.errors`.
    """

    score: Score
    curves: list[LearningCurve]
    transition_error: float


def agent_sample_efficiency(
    encoder: Encoder,
    environment: ClusteringEnvironment | None = None,
    *,
    n_runs: int = 5,
    n_explored: int = 3000,
    is_curious: bool = False,
    n_updates: int = 1000,
    settings: LearningSettings | None = None,
    seed: int = 0,
) -> AgentResult:
    """Steps that a model-based agent needs to learn to cluster sprites.

    First, without a task, the environment is explored and a transition model of the
    slots is trained. Then the reward is learned, in several runs with another initial
    reward predictor each, from steps that count. A run ends when the agent solves 90%
    of its test episodes.

    Args:
        encoder: Model with slots, such as MONet, or an encoder of single objects; see
            :func:`read_slots`.
        environment: Task; the default one has four sprites of two colors at 32x32
            pixels.
        n_runs: Number of reward predictors.
        n_explored: Number of exploration steps, which the score does not count.
        is_curious: Whether the second half of the exploration prefers actions whose
            outcome is predicted badly, in place of random ones.
        n_updates: Updates of the transition model.
        settings: Settings of learning the reward and of testing.
        seed: Seed of everything that is random.

    Returns:
        Score and learning curves. A run that was given up counts as ``max_steps``, and
        the note of the score says so. ``score.details`` has the steps of each run
        (``"steps_<run>"``), ``"n_given_up"`` and the mean of the last success rates
        (``"success_rate"``).

    References:
        Watters et al. (2019), COBRA: Data-Efficient Model-Based RL through Unsupervised
        Object Discovery and Curiosity-Driven Exploration.
        https://arxiv.org/abs/1905.09275
    """
    check_integer("n_runs", n_runs, least=1)
    check_integer("n_explored", n_explored, least=2)
    settings = settings or LearningSettings()
    environment = copy.deepcopy(environment or ClusteringEnvironment())
    tests = [copy.deepcopy(environment) for _ in range(settings.n_tests)]
    transition, error = _learn_transitions(
        environment, encoder, n_explored, n_updates, is_curious=is_curious, seed=seed
    )
    curves = [
        learn_task(
            environment,
            tests,
            encoder,
            transition,
            settings=settings,
            seed=torch_generator(seed, "run", run).initial_seed(),
        )
        for run in range(n_runs)
    ]
    return AgentResult(summarize_curves(curves, seed=seed), curves, error)


def summarize_curves(curves: list[LearningCurve], *, seed: int | None = None) -> Score:
    """Score of several learning curves.

    Example:
        >>> solved = LearningCurve([100, 200], [0.5, 0.95])
        >>> given_up = LearningCurve([100, 200, 300], [0.0, 0.2, 0.5])
        >>> score = summarize_curves([solved, given_up])
        >>> score, score.note
        (250.0, '1 of 2 runs were given up.')
    """
    steps = [curve.steps[-1] for curve in curves]
    n_given_up = sum(not curve.is_solved for curve in curves)
    rates = [curve.success_rates[-1] for curve in curves]
    return Score(
        float(np.median(steps)),
        name="agent_sample_efficiency",
        details={
            **{f"steps_{run}": needed for run, needed in enumerate(steps)},
            "n_given_up": n_given_up,
            "success_rate": float(np.mean(rates)),
        },
        seed=seed,
        note=f"{n_given_up} of {len(curves)} runs were given up." if n_given_up else "",
    )


def _learn_transitions(
    environment: ClusteringEnvironment,
    encoder: Encoder,
    n_explored: int,
    n_updates: int,
    *,
    is_curious: bool,
    seed: int,
) -> tuple[TransitionModel, float]:
    """Explore in two halves, and train a transition model on both."""
    walk = Walk(environment, encoder, seed=seed)
    generator = torch_generator(seed, "exploration")
    policy: AbstractPolicy = RandomPolicy()
    seen = walk.record(policy, n_explored // 2, generator)
    transition = TransitionModel(seen.slots, seed=seed)
    if is_curious:
        train_transitions(transition, seen, n_updates=n_updates, seed=seed)
        policy = CuriousPolicy(seen.slots.shape[2], seed=seed)
        policy.train(seen, transition.errors(seen))
    new = walk.record(policy, n_explored - len(seen), generator)
    seen = Transitions.join(seen, new)
    error = train_transitions(transition, seen, n_updates=n_updates, seed=seed)
    return transition, error
