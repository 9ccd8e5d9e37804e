import numpy as np
import pytest
from sklearn.linear_model import Lasso

from unbraid.selection._lasso import lasso_coefficients

GENERATOR = np.random.default_rng(0)
PENALTY = 0.1


def centered(n_columns, spread):
    """Columns that repeat three others, but for some noise."""
    few = GENERATOR.standard_normal((500, 3))
    columns = few[:, np.arange(n_columns) % 3]
    columns = columns + spread * GENERATOR.standard_normal(columns.shape)
    return columns - columns.mean(axis=0)


@pytest.mark.parametrize("spread", [1.0, 0.1, 0.001, 0.0])
def test_is_optimal_however_much_columns_repeat_each_other(spread):
    columns, targets = centered(8, spread), centered(20, 0.5)
    targets += columns @ GENERATOR.standard_normal((8, 20))
    gram, products = columns.T @ columns / 500, columns.T @ targets / 500
    weights = lasso_coefficients(gram, products, penalty=PENALTY)
    slopes = products - gram @ weights
    assert np.abs(slopes).max() <= PENALTY + 1e-8
    inside = weights != 0
    assert slopes[inside] == pytest.approx(PENALTY * np.sign(weights)[inside], abs=1e-8)


def test_agrees_with_scikit_learn_at_its_tolerance():
    columns, targets = centered(8, 1.0), centered(20, 0.5)
    gram, products = columns.T @ columns / 500, columns.T @ targets / 500
    exact = lasso_coefficients(gram, products, penalty=PENALTY)
    lasso = Lasso(alpha=PENALTY, tol=1e-13, max_iter=100_000).fit(columns, targets)
    assert exact == pytest.approx(lasso.coef_.T, abs=1e-8)
    rough = lasso_coefficients(gram, products, penalty=PENALTY, tolerance=1e-4)
    assert 1e-9 < np.abs(rough - exact).max() < 1e-3


def test_a_column_of_zeros_has_no_weight():
    gram, products = np.diag([1.0, 0.0]), np.array([[1.0, 0.0], [0.0, 0.0]])
    weights = lasso_coefficients(gram, products, penalty=PENALTY)
    assert weights.tolist() == [[0.9, 0.0], [0.0, 0.0]]
