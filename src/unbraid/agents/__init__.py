"""Agents that learn to cluster sprites from what an encoder sees."""

from ._efficiency import AgentResult, agent_sample_efficiency, summarize_curves
from ._environment import ClusteringEnvironment
from ._exploration import AbstractPolicy, CuriousPolicy, RandomPolicy, Walk, explore
from ._learning import (
    SUCCESS_RATE,
    Agent,
    LearningCurve,
    LearningSettings,
    MixedPolicy,
    learn_task,
)
from ._reward import RewardPredictor, train_reward
from ._slots import Encoder, read_slots
from ._spaces import Box
from ._task import SUCCESS, clustering_quality, clustering_reward
from ._transition import (
    TransitionModel,
    Transitions,
    matched_errors,
    train_transitions,
)

__all__ = [
    "SUCCESS",
    "SUCCESS_RATE",
    "AbstractPolicy",
    "Agent",
    "AgentResult",
    "Box",
    "ClusteringEnvironment",
    "CuriousPolicy",
    "Encoder",
    "LearningCurve",
    "LearningSettings",
    "MixedPolicy",
    "RandomPolicy",
    "RewardPredictor",
    "TransitionModel",
    "Transitions",
    "Walk",
    "agent_sample_efficiency",
    "clustering_quality",
    "clustering_reward",
    "explore",
    "learn_task",
    "matched_errors",
    "read_slots",
    "summarize_curves",
    "train_reward",
    "train_transitions",
]
