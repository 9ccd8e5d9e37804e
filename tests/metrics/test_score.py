import pickle

import numpy as np
import pytest

from unbraid.metrics import Score

SCORE = Score(
    0.25,
    name="mig",
    variant="v",
    per_factor={"x": np.float64(0.5)},
    matrix=np.eye(2),
    details={"a": 1},
    seed=3,
    note="said",
)


def test_a_score_is_the_number_it_is():
    assert SCORE == 0.25
    assert SCORE + 1 == 1.25
    assert f"{SCORE:.1f}" == "0.2"
    assert repr(SCORE) == "0.25"


def test_changing_a_detail_keeps_the_rest():
    changed = SCORE.replace(interval=(0.1, 0.4), value=0.3)
    assert changed == 0.3
    assert changed.interval == (0.1, 0.4)
    assert changed.per_factor == SCORE.per_factor
    assert changed.matrix is SCORE.matrix
    assert SCORE.interval is None


def test_a_score_travels_between_processes():
    back = pickle.loads(pickle.dumps(SCORE))
    assert back == SCORE
    assert back.per_factor == {"x": 0.5}
    np.testing.assert_array_equal(back.matrix, np.eye(2))


def test_parts_of_a_score_cannot_be_changed():
    with pytest.raises(TypeError):
        SCORE.per_factor["x"] = 1.0
