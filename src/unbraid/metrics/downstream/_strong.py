"""Strong generalization: prediction at new values of another factor."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._grid import Grid, complete_grid
from unbraid.metrics._inputs import Factors, read_inputs, require_two_factors
from unbraid.metrics._score import Score
from unbraid.metrics._splits import Split

from ._learner import (
    Learner,
    PredictorName,
    Variant,
    read_learner,
    split_known,
)

_NAME = "strong_generalisation_accuracy"
"""Name of the score in tables and files, and of its random stream."""


def strong_generalization_accuracy(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    n_experiments: int = 3,
    predictor: PredictorName = "boosting",
    variant: Variant = "fast",
    n_train: int = 10_000,
    n_test: int = 5000,
    seed: int = 0,
) -> Score:
    r"""Accuracy of predicting a factor when another one leaves the training range.

    For each factor, another one is chosen at random and held at one random value while
    a predictor learns, and has any of its other values when the predictor is tested.
    If the two factors are apart in the representation this does no harm, and the gap
    to an ordinary test is zero.

    .. math:: \text{gap} = 1 - \frac{\text{strong accuracy}}{\text{ordinary accuracy}}

    Args:
        codes: Latent means, ``(n_rows, n_latents)``. Constant and duplicate latents
            are harmless.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`, at least
            two factors. If every combination of values has one row, rows are drawn and
            the other factor is changed, as in the study. In any other table, rows with
            the held value are learned from and rows with other values are tested on,
            and the ordinary predictor learns from as few rows, so that the gap does
            not measure scarcity. Rows where a factor concerned is missing are left
            out. A continuous factor is held within one of its 20 bins; as the one
            that is predicted, it is scored by explained variance, as in
            :func:`downstream_accuracy`.
        n_experiments: Number of random choices of another factor and value, for each
            factor.
        predictor: ``"boosting"``, as in the study, or ``"logistic"``.
        variant: ``"dlib"`` for scikit-learn's predictors, ``"fast"`` for ours.
        n_train: Number of rows to learn from; fewer if there are not enough.
        n_test: Number of rows to test on; fewer if there are not enough.
        seed: Seed of the rows, and of the factors and values that are held.

    Returns:
        Mean strong accuracy over factors and experiments, from 0 to 1, higher is
        better, with ``per_factor``. ``details`` has ``"accuracy"``, the ordinary one
        (with ``"accuracy/<factor>"``), and ``"gap"``, which is lower for better
        representations (NaN if the ordinary accuracy is 0, and the note says so).

    Raises:
        ValueError: If there is one factor only, or no two factors known together.

    Example:
        >>> grid = np.stack(np.meshgrid(range(3), range(8)), axis=-1).reshape(-1, 2)
        >>> apart = strong_generalization_accuracy(grid, grid)
        >>> sheared = grid @ np.array([[1, 0], [1, 1]])
        >>> apart > strong_generalization_accuracy(sheared, grid)
        True

    References:
        Measured in disentanglement_lib (strong_downstream_task), which accompanies
        Locatello et al. (2019); there ``n_experiments`` is 10 and not seeded.
        https://arxiv.org/abs/1811.12359
    """
    caller = "strong_generalization_accuracy"
    codes, factors = read_inputs(caller, codes, factors)
    require_two_factors(caller, factors)
    learner = read_learner(caller, predictor, variant, seed)
    check_count(f"{caller}: n_experiments", n_experiments)
    check_count(f"{caller}: n_train", n_train)
    check_count(f"{caller}: n_test", n_test)
    task = _Task(codes, factors, learner, n_train, n_test)
    grid = complete_grid(factors)
    strong, ordinary = {}, {}
    for k, name in enumerate(factors.names):
        generator = numpy_generator(seed, _NAME, k)
        if grid is not None:
            results = _on_grid(task, k, grid, n_experiments, generator)
        else:
            results = _on_table(task, k, n_experiments, generator)
        strong[name], ordinary[name] = results
    accuracy = float(np.mean(list(ordinary.values())))
    value = float(np.mean(list(strong.values())))
    notes = [] if grid is not None else ["Not a complete grid: rows were selected."]
    if accuracy == 0:
        notes.append("No gap, for an ordinary accuracy of 0.")
    return Score(
        value,
        name=_NAME,
        variant=f"{predictor}, {variant}",
        per_factor=strong,
        details={
            "accuracy": accuracy,
            "gap": 1.0 - value / accuracy if accuracy > 0 else np.nan,
            **{f"accuracy/{name}": part for name, part in ordinary.items()},
        },
        seed=seed,
        note=" ".join(notes),
    )


@dataclass(frozen=True)
class _Task:
    codes: NDArray[np.float64]
    factors: Factors
    learner: Learner
    n_train: int
    n_test: int

    def accuracy(self, factor: int, split: Split) -> float:
        return self.learner.fit_and_score(self.codes, self.factors, factor, split)


def _on_grid(
    task: _Task,
    target: int,
    grid: Grid,
    n_experiments: int,
    generator: np.random.Generator,
) -> tuple[float, float]:
    """Return strong and ordinary accuracy of a factor, by changing another one."""
    split = split_known(
        task.factors,
        target,
        n_train=task.n_train,
        n_test=task.n_test,
        generator=generator,
    )
    strong = []
    for _ in range(n_experiments):
        other = generator.choice(np.delete(np.arange(task.factors.n_factors), target))
        size = task.factors.sizes[other]
        held = generator.integers(size)
        # Any value but the held one: 1 to size - 1 steps ahead of it, modulo size.
        steps = generator.integers(1, size, size=len(split.test))
        changed = Split(
            grid.change(split.train, other, held),
            grid.change(split.test, other, (held + steps) % size),
        )
        strong.append(task.accuracy(target, changed))
    return float(np.mean(strong)), task.accuracy(target, split)


def _on_table(
    task: _Task, target: int, n_experiments: int, generator: np.random.Generator
) -> tuple[float, float]:
    """Return strong and ordinary accuracy of a factor, by selecting rows."""
    strong, ordinary = [], []
    for _ in range(n_experiments):
        split = _held_apart(task, target, generator)
        strong.append(task.accuracy(target, split))
        matched = split_known(
            task.factors,
            target,
            n_train=len(split.train),
            n_test=len(split.test),
            generator=generator,
        )
        ordinary.append(task.accuracy(target, matched))
    return float(np.mean(strong)), float(np.mean(ordinary))


def _held_apart(task: _Task, target: int, generator: np.random.Generator) -> Split:
    """Return rows with one value of another factor, and rows with its other values."""
    labels, known = task.factors.labels, task.factors.known[:, target]
    others = np.delete(np.arange(task.factors.n_factors), target)
    for other in generator.permutation(others):
        rows = np.flatnonzero(known & (labels[:, other] >= 0))
        values = np.unique(labels[rows, other])
        if len(values) < 2:
            continue
        is_held = labels[rows, other] == generator.choice(values)
        train = generator.permutation(rows[is_held])[: task.n_train]
        test = generator.permutation(rows[~is_held])[: task.n_test]
        return Split(train, test)
    raise ValueError(
        "strong_generalization_accuracy: there are no rows in which "
        f"{task.factors.names[target]!r} is known and another factor varies. Drop this "
        "factor, or label more rows."
    )
