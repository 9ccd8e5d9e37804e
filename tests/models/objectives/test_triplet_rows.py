import torch
from companions import batch_of, seeded, tiny_model

from unbraid.models.objectives._triplet_rows import given_triplets, perceived_triplets


def test_given_triplets_are_thirds_in_order():
    rows = given_triplets(torch.zeros(6, 2))
    assert rows.anchors.tolist() == [0, 1]
    assert rows.positives.tolist() == [2, 3]
    assert rows.negatives.tolist() == [4, 5]
    assert rows.is_kept.all()


def test_perceived_triplets_have_the_image_that_looks_nearer_first():
    model, images = tiny_model(), batch_of(1, size=9).images
    rows = perceived_triplets(model, images, 200, generator=seeded())
    anchors, positives, negatives = rows.of(images)
    near = (anchors - positives).square().sum(dim=1)
    far = (anchors - negatives).square().sum(dim=1)
    assert (near[rows.is_kept] < far[rows.is_kept]).all()
    assert torch.equal(near[~rows.is_kept], far[~rows.is_kept])
    assert 100 < int(rows.is_kept.sum()) < 200


def test_every_image_takes_every_part():
    model, images = tiny_model(), batch_of(1, size=4).images
    rows = perceived_triplets(model, images, 500, generator=seeded())
    for part in (rows.anchors, rows.positives, rows.negatives):
        assert set(part.tolist()) == {0, 1, 2, 3}


def test_images_that_are_all_alike_give_no_triplet():
    model = tiny_model()
    rows = perceived_triplets(model, torch.ones(4, 5).double(), 20, generator=seeded())
    assert not rows.is_kept.any()
