import pytest
import torch
from companions import batch_of, context, tiny_model, transparent_model

from unbraid.data import Batch
from unbraid.models.objectives import TAE, AdaTAE


def test_shared_latents_count_less_in_the_distance_to_the_negative():
    rows = torch.tensor([[[0.0, 0.0]], [[1.0, 0.5]], [[-3.0, 0.4]]]).double()
    batch = Batch(images=rows[0], partner_images=(rows[1], rows[2]))
    model = transparent_model(2, is_variational=False)
    objective = AdaTAE(margin=4.0, omega=0.5)
    loss = objective.loss(model, batch, context())
    assert loss.terms["triplet"].item() == pytest.approx(4.0 + 1.5 - (3.0 + 0.2))


def test_with_a_shared_weight_of_one_it_is_the_plain_one():
    model, batch = tiny_model(is_variational=False), batch_of(3)
    plain = TAE().loss(model, batch, context())
    adaptive = AdaTAE(omega=1.0).loss(model, batch, context())
    assert plain.total.item() == adaptive.total.item()


def test_schedules_are_those_of_the_table():
    objective = AdaTAE.scheduled("both_strong", alpha=2.0).over(10)
    assert objective.alpha == 2.0
    assert [context(step).value(objective.omega) for step in (0, 10)] == [1.0, 0.0]
    assert [context(step).value(objective.eta) for step in (0, 10)] == [0.0, 0.5]
