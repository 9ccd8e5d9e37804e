import itertools

import numpy as np
import pytest
import torch

from unbraid.agents import (
    Agent,
    ClusteringEnvironment,
    CuriousPolicy,
    LearningSettings,
    MixedPolicy,
    RandomPolicy,
    RewardPredictor,
    TransitionModel,
    Transitions,
    agent_sample_efficiency,
    explore,
    matched_errors,
    read_slots,
    train_reward,
    train_transitions,
)
from unbraid.data import SpriteScenes
from unbraid.foundation import torch_generator
from unbraid.models import Gaussian, build_model
from unbraid.models.networks import MONetComponents

SCENES = SpriteScenes(n_sprites=2, image_size=16)


def ideal_encoder(images):
    """Center and color of a single object, from its pixels."""
    weights = images.amax(dim=1) + 1e-6
    axis = torch.linspace(-1, 1, images.shape[2])
    total = weights.sum(dim=(1, 2))
    x = (weights.sum(dim=1) * axis).sum(dim=1) / total
    y = (weights.sum(dim=2) * axis).sum(dim=1) / total
    return torch.stack([x, y, *(images.sum(dim=(2, 3)) / total[:, None]).T], dim=1)


def random_slots(*shape, seed=0):
    return torch.randn(*shape, generator=torch_generator(seed, "slots"))


def test_a_single_object_encoder_sees_one_object_at_a_time():
    images, masks = SCENES.images([4, 5]), SCENES.masks([4, 5])
    slots = read_slots(lambda x: x.flatten(1), images, masks)
    assert slots.shape == (2, 2, 3 * 16 * 16)
    is_second = (masks[1, 2] > 0) & (masks[1, 2] > masks[1, 1])
    expected = images[1] / 255 * is_second
    np.testing.assert_allclose(slots[1, 1].reshape(3, 16, 16), expected, atol=1e-6)


def test_an_object_that_nothing_covers_looks_as_if_it_were_alone():
    environment = ClusteringEnvironment(image_size=16)
    observation, info = environment.reset(seed=0)
    colors = environment._colors
    slots = read_slots(lambda x: x.flatten(1), observation[None], info["masks"][None])
    # The last sprite is in front of the others.
    alone = info["masks"][4] * colors[3][:, None, None]
    is_alone = info["masks"][1:4].max(axis=0) == 0
    seen = slots[0, 3].reshape(3, 16, 16).numpy()
    np.testing.assert_allclose((seen * is_alone), alone * is_alone, atol=1 / 255)


def test_a_model_with_slots_finds_its_own():
    model = build_model(
        MONetComponents(n_slots=3, n_filters=4),
        image_shape=(3, 16, 16),
        n_latents=6,
        likelihood=Gaussian(),
        seed=0,
    )
    images = SCENES.images([0, 1])
    slots = read_slots(model, images, SCENES.masks([0, 1]))
    codes = model.encode(torch.from_numpy(images / np.float32(255))).mean
    assert torch.equal(slots.flatten(1), codes)
    assert slots.shape == (2, 3, 2)


def test_slots_are_matched_in_the_best_of_all_orders():
    first, second = random_slots(5, 4, 3), random_slots(5, 4, 3, seed=1)
    for i, error in enumerate(matched_errors(first, second).tolist()):
        totals = [
            sum((first[i, k] - second[i, order[k]]).square().sum() for k in range(4))
            for order in itertools.permutations(range(4))
        ]
        assert error == pytest.approx(float(min(totals)), rel=1e-5)


def test_a_transition_model_treats_all_slots_alike():
    model = TransitionModel(random_slots(10, 3, 2))
    slots, actions = random_slots(4, 3, 2, seed=1), torch.rand(4, 4)
    swapped = model(slots[:, [2, 0, 1]], actions)
    torch.testing.assert_close(swapped, model(slots, actions)[:, [2, 0, 1]])


def test_standardized_slots_keep_the_proportions_of_latents():
    slots = random_slots(500, 2, 2) * torch.tensor([3.0, 0.01]) + 5
    standardized = TransitionModel(slots).standardize(slots).flatten(0, 1)
    assert standardized.mean(dim=0).abs().max() < 1e-4
    assert standardized.var(dim=0, correction=0).sum() == pytest.approx(1, rel=1e-3)
    stds = standardized.std(dim=0)
    assert stds[0] / stds[1] == pytest.approx(300, rel=0.1)


def linear_world(n):
    """Slots that all move by the last two numbers of the action."""
    slots, actions = random_slots(n, 3, 2), torch.rand(n, 4)
    after = slots + (actions[:, None, 2:] - 0.5)
    order = torch.argsort(torch.rand(n, 3), dim=1)[..., None].expand(-1, -1, 2)
    return Transitions(slots, actions, after.gather(1, order), slots.sum(dim=(1, 2)))


def test_a_transition_model_learns_from_slots_in_any_order():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        seen = linear_world(500)
    model = TransitionModel(seen.slots)
    before = model.errors(seen).mean().item()
    after = train_transitions(model, seen, n_updates=200)
    assert after < before / 10


def test_a_reward_predictor_ignores_the_order_of_slots_and_learns():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        seen = linear_world(300)
    predictor = RewardPredictor(2, seed=1)
    permuted = predictor(seen.slots[:, [1, 2, 0]])
    torch.testing.assert_close(permuted, predictor(seen.slots), rtol=1e-4, atol=1e-5)
    known = Transitions(seen.slots, seen.actions, seen.slots, seen.rewards)
    optimizer = torch.optim.Adam(predictor.parameters(), lr=1e-2)
    error = train_reward(
        predictor, optimizer, known, n_updates=200, generator=torch_generator(0)
    )
    assert error < known.rewards.var().item() / 10


def test_initial_reward_predictors_differ_by_seed_only():
    slots = random_slots(3, 4, 2)
    first, again, other = (RewardPredictor(2, seed=seed)(slots) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_curious_policy_prefers_what_is_predicted_badly():
    slots, actions = random_slots(400, 2, 1), torch.rand(400, 4)
    errors = 10 * actions[:, 0]
    seen = Transitions(slots, actions, slots, torch.zeros(400))
    policy = CuriousPolicy(1)
    policy.train(seen, errors)
    chosen = policy.choose(slots, torch_generator(0))
    assert chosen[:, 0].mean() > 0.8
    assert chosen[:, 1].mean() == pytest.approx(0.5, abs=0.15)


class Left(torch.nn.Module):
    """Reward of slots that are far to the left."""

    def forward(self, slots):
        return -slots[..., 0].sum(dim=1)


def test_an_agent_takes_the_action_with_the_highest_predicted_reward():
    class Pushed(torch.nn.Module):
        def forward(self, slots, actions):
            return slots + actions[:, None, 2:3]

        def standardize(self, slots):
            return slots

    agent = Agent(ideal_encoder, Pushed(), Left(), n_candidates=200)
    actions = agent.choose(torch.zeros(5, 2, 1), torch_generator(0))
    assert actions.shape == (5, 4)
    assert actions[:, 2].max() < 0.05


def test_a_mixed_policy_follows_both():
    class Constant(RandomPolicy):
        def choose(self, slots, generator):
            return torch.full((len(slots), 4), 2.0)

    policy = MixedPolicy(RandomPolicy(), Constant(), share=0.3)
    generator = torch_generator(0)
    chosen = [policy.choose(torch.zeros(1, 1, 1), generator) for _ in range(500)]
    share = np.mean([bool((actions == 2).all()) for actions in chosen])
    assert share == pytest.approx(0.3, abs=0.07)


def test_exploration_records_what_happened():
    environment = ClusteringEnvironment(image_size=16, max_steps=3)
    seen = explore(environment, ideal_encoder, RandomPolicy(), n_steps=7, seed=2)
    assert len(seen) == 7
    assert (seen.rewards <= 0).all()
    # Within an episode, the slots after a step are the slots before the next.
    assert torch.equal(seen.next_slots[0], seen.slots[1])
    assert not torch.equal(seen.next_slots[2], seen.slots[3])
    again = explore(environment, ideal_encoder, RandomPolicy(), n_steps=7, seed=2)
    assert torch.equal(seen.slots, again.slots)


def test_sample_efficiency_reports_every_run():
    settings = LearningSettings(max_steps=20, every=10, n_tests=2, n_candidates=4)
    environment = ClusteringEnvironment(image_size=16, max_steps=3)
    options = {"n_runs": 2, "n_explored": 20, "n_updates": 3, "settings": settings}
    result = agent_sample_efficiency(
        ideal_encoder, environment, is_curious=True, **options
    )
    again = agent_sample_efficiency(
        ideal_encoder, environment, is_curious=True, **options
    )
    assert result == again
    assert len(result.curves) == 2
    for run, curve in enumerate(result.curves):
        assert curve.steps == [10, 20][: len(curve.steps)]
        assert result.score.details[f"steps_{run}"] == curve.steps[-1]
    assert 10 <= result.score <= 20
