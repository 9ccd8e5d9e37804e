import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from unbraid.metrics import _boosting
from unbraid.metrics._boosting import (
    PUBLISHED,
    boost,
    sigmoid_gradient,
    softmax_gradient,
    squared_gradient,
)


@pytest.fixture
def splits_all(monkeypatch):
    """No node is too even to be split, as in scikit-learn."""
    monkeypatch.setattr(_boosting, "_EVEN", 0.0)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.usefixtures("splits_all")
@pytest.mark.parametrize("rounded", [False, True])
def test_a_tree_equals_that_of_scikit_learn(rounded):
    codes = normal(3000, 4).round(1) if rounded else normal(3000, 4)
    first, second, third, _ = codes[:2000].T
    # Steps, so that every node is large and has one split that is best.
    signal = 4 * (first > 0.1) + 2 * (second > 0.3) + (third > -0.2) * (first > 0.1)
    residuals = signal + 0.3 * normal(2000, seed=1)
    table = _boosting._Table.of(codes, 2000)
    leaves, falls = _boosting._fit_tree(residuals, table, 0.0, depth=3)
    tree = DecisionTreeRegressor(max_depth=3).fit(codes[:2000], residuals)
    expected = 2000 * tree.tree_.compute_feature_importances(normalize=False)
    assert falls == pytest.approx(expected, rel=1e-4)
    # The same parts of training and of new rows, whatever the leaves are called.
    pairs = set(zip(leaves, tree.apply(codes), strict=True))
    assert len(pairs) == len(np.unique(leaves)) == tree.get_n_leaves()


@pytest.mark.usefixtures("splits_all")
def test_with_the_same_rounds_a_classifier_equals_that_of_scikit_learn():
    codes = normal(900, 5)
    labels = np.digitize(codes[:, 0] + codes[:, 1] ** 2, [0.0, 1.0, 2.0])
    targets = (np.arange(4)[:, None] == labels[:600]).astype(float)
    importance, scores = boost(
        codes,
        targets,
        start=np.log(targets.mean(axis=1)),
        gradient=softmax_gradient,
        growth=PUBLISHED,
    )
    model = GradientBoostingClassifier(random_state=0).fit(codes[:600], labels[:600])
    assert importance == pytest.approx(model.feature_importances_, abs=0.005)
    same = scores.argmax(axis=0) == model.predict(codes)
    assert same[:600].all()
    assert same[600:].mean() > 0.97


@pytest.mark.usefixtures("splits_all")
def test_with_the_same_rounds_a_regression_equals_that_of_scikit_learn():
    codes = normal(900, 5)
    values = codes[:, 0] * codes[:, 1] + 0.1 * normal(900, seed=1)
    importance, scores = boost(
        codes,
        values[None, :600],
        start=values[:600].mean(keepdims=True),
        gradient=squared_gradient,
        growth=PUBLISHED,
    )
    model = GradientBoostingRegressor(random_state=0).fit(codes[:600], values[:600])
    assert importance == pytest.approx(model.feature_importances_, abs=0.005)
    apart = np.abs(scores[0] - model.predict(codes))
    assert apart[:600].max() < 0.1
    assert apart[600:].mean() < 0.05


def test_codes_that_part_the_rows_alike_share_the_credit():
    code = normal(500, 1)
    codes = np.hstack([code, -code, code**3, normal(500, 1, seed=1)])
    values = np.sign(code.T)
    importance, _ = boost(codes, values, start=np.zeros(1), gradient=squared_gradient)
    assert importance == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0], abs=1e-6)


def test_values_that_differ_by_rounding_only_are_one_value():
    code = np.array([[0.3], [0.1 + 0.2], [0.6], [0.1 + 0.5]] * 50)
    values = np.array([[0.0, 1.0, 2.0, 3.0] * 50])
    _, scores = boost(code, values, start=np.full(1, 1.5), gradient=squared_gradient)
    assert scores == pytest.approx(np.array([[0.5, 0.5, 2.5, 2.5] * 50]), abs=0.01)


def test_what_no_code_tells_has_no_importance():
    importance, scores = boost(
        np.repeat([[0.0], [1.0]], 4, axis=0),
        np.array([[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]]),
        start=np.full(1, 1.5),
        gradient=squared_gradient,
    )
    assert importance.tolist() == [0.0]
    assert scores == pytest.approx(np.full((1, 8), 1.5))


def test_two_classes_with_one_output_are_learned_as_with_two():
    codes = normal(800, 3)
    labels = codes[:, 0] + 0.5 * normal(800, seed=1) > 0.4
    two = np.stack([~labels, labels]).astype(float)[:, :600]
    start = np.log(two.mean(axis=1))
    _, both = boost(codes, two, start=start, gradient=softmax_gradient)
    _, one = boost(
        codes, two[1:], start=start[1:] - start[:1], gradient=sigmoid_gradient
    )
    assert one[0] == pytest.approx(both[1] - both[0], rel=0.05, abs=0.05)
