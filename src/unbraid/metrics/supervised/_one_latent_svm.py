"""Linear support vector machines on a single latent, solved exactly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEPS = 200
"""Largest number of Newton steps; about ten are enough."""


@dataclass(frozen=True)
class OneLatentClassifier:
    """Classifier by the largest of ``slope * latent + intercept``.

    Attributes:
        classes: Class numbers, ascending, ``(n_classes,)``.
        slopes: Slope of each class, ``(n_classes,)``.
        intercepts: Intercept of each class, ``(n_classes,)``.
    """

    classes: NDArray[np.int64]
    slopes: NDArray[np.float64]
    intercepts: NDArray[np.float64]

    def predict(self, latent: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class of each row, ``(n_rows,)``."""
        decisions = latent[:, None] * self.slopes + self.intercepts
        return self.classes[decisions.argmax(axis=1)]


def fit_one_latent(
    latent: NDArray[np.float64], labels: NDArray[np.int64], *, cost: float
) -> OneLatentClassifier:
    r"""Fit one squared-hinge machine per class against the rest, classes balanced.

    For each class, with :math:`y = \pm 1` for its rows and the others,

    .. math::
        \min_{w, b} \tfrac{1}{2} (w^2 + b^2)
        + \sum_i c_i \max(0, 1 - y_i (w x_i + b))^2 .

    The intercept is penalized, and :math:`c_i` is ``cost`` for the others and ``cost *
    n_rows / (n_classes * size)`` for rows of a class of that size, as in liblinear with
    balanced weights; two classes are one problem, weighted on both sides.

    The rows with a hinge are those on one side of a threshold on :math:`x`, so that
    with rows sorted once all sums over them are differences of running sums, and a
    Newton step for all classes takes no pass over the rows.

    Args:
        latent: Values of the latent, ``(n_rows,)``.
        labels: Class numbers, ``(n_rows,)``.
        cost: Weight of the hinges, positive.

    Example:
        >>> latent = np.array([0.0, 1.0, 5.0, 6.0])
        >>> machine = fit_one_latent(latent, np.array([0, 0, 3, 3]), cost=1.0)
        >>> machine.predict(np.array([-1.0, 7.0]))
        array([0, 3])
    """
    classes, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    balanced = cost * len(latent) / (len(classes) * sizes)
    others = balanced[::-1] if len(classes) == 2 else np.full(len(classes), cost)
    problem = _Problem.of(latent, labels, balanced, others)
    slopes, intercepts = _minimize(problem, len(classes))
    return OneLatentClassifier(classes, slopes, intercepts)


def _minimize(problem: "_Problem", n_classes: int) -> NDArray[np.float64]:
    """Return slopes and intercepts, ``(2, n_classes)``, by damped Newton steps."""
    at = np.zeros((2, n_classes))
    loss, step = problem.loss_and_step(at)
    for _ in range(STEPS):
        trial = at + step
        trial_loss, trial_step = problem.loss_and_step(trial)
        better = trial_loss <= loss * (1 + 1e-14)
        at = np.where(better, trial, at)
        loss = np.where(better, trial_loss, loss)
        step = np.where(better, trial_step, step / 2)
        if (np.abs(step) <= 1e-10 * (1e-10 + np.abs(at))).all():
            break
    return at


@dataclass(frozen=True)
class _Problem:
    """Rows sorted by latent, with running sums of 1, x and x squared.

    Attributes:
        latent: Values in ascending order, ``(n_rows,)``.
        sums: Running sums over all rows, ``(n_rows + 1, 3)``.
        keys: Class number and rank of each row as one integer, ascending.
        class_sums: Running sums over rows in the order of ``keys``.
        edges: Starts of the classes in the order of ``keys``, and the end.
        inside: Weight of a class's own rows, ``(n_classes,)``.
        outside: Weight of the other rows, ``(n_classes,)``.
    """

    latent: NDArray[np.float64]
    sums: NDArray[np.float64]
    keys: NDArray[np.int64]
    class_sums: NDArray[np.float64]
    edges: NDArray[np.int64]
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        latent: NDArray[np.float64],
        labels: NDArray[np.int64],
        inside: NDArray[np.float64],
        outside: NDArray[np.float64],
    ) -> "_Problem":
        order = np.argsort(latent)
        ascending = latent[order]
        # Sorting is several times faster with the smallest integer type.
        small = labels[order].astype(np.min_scalar_type(len(inside)))
        by_class = np.argsort(small, kind="stable")
        keys = labels[order][by_class] * (len(latent) + 1) + by_class
        edges = np.arange(len(inside) + 1) * (len(latent) + 1)
        return cls(
            latent=ascending,
            sums=_running_sums(ascending),
            keys=keys,
            class_sums=_running_sums(ascending[by_class]),
            edges=np.searchsorted(keys, edges),
            inside=inside,
            outside=outside,
        )

    def loss_and_step(
        self, at: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Loss of each class ``(n_classes,)`` and Newton step ``(2, n_classes)``."""
        slope, intercept = at
        own, _ = self._sums_of_hinges(slope, 1 - intercept)
        _, rest = self._sums_of_hinges(-slope, 1 + intercept)
        own, rest = own * self.inside, rest * self.outside
        (s0, s1, s2), (d0, d1, _) = own + rest, own - rest
        loss = (
            (slope**2 + intercept**2) / 2
            + s0
            - 2 * (slope * d1 + intercept * d0)
            + slope**2 * s2
            + 2 * slope * intercept * s1
            + intercept**2 * s0
        )
        gradient = (
            slope + 2 * (slope * s2 + intercept * s1 - d1),
            intercept + 2 * (slope * s1 + intercept * s0 - d0),
        )
        a, b, c = 1 + 2 * s2, 2 * s1, 1 + 2 * s0
        inverse = 1 / (a * c - b * b)
        step = np.stack(
            [
                (b * gradient[1] - c * gradient[0]) * inverse,
                (b * gradient[0] - a * gradient[1]) * inverse,
            ]
        )
        return loss, step

    def _sums_of_hinges(
        self, slope: NDArray[np.float64], bound: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums over rows with ``slope * x < bound``: of each class, of its others.

        Both have shape ``(3, n_classes)``.
        """
        never = np.where(bound > 0, np.inf, -np.inf)
        threshold = np.divide(bound, slope, out=never, where=slope != 0)
        rank = np.searchsorted(self.latent, threshold)
        starts, ends = self.edges[:-1], self.edges[1:]
        queries = np.arange(len(rank)) * (len(self.latent) + 1) + rank
        middle = np.searchsorted(self.keys, queries)
        # Rows below the threshold where the slope goes up, above it where it goes down.
        up = slope >= 0
        low, high = np.where(up, starts, middle), np.where(up, middle, ends)
        own = self.class_sums[high] - self.class_sums[low]
        low, high = np.where(up, 0, rank), np.where(up, rank, len(self.latent))
        return own.T, (self.sums[high] - self.sums[low] - own).T


def _running_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.stack([np.ones_like(values), values, values**2], axis=1)
    return np.concatenate([np.zeros((1, 3)), powers.cumsum(axis=0)])
