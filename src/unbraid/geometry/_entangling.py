"""Maps of the impossibility theorem: they entangle codes but keep the distribution."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from unbraid.foundation import (
    check_finite,
    check_integer,
    check_shape,
    numpy_generator,
)

Values = NDArray[np.float64]

_LOWEST = np.finfo(np.float64).tiny
_HIGHEST = 1.0 - np.finfo(np.float64).epsneg

_ZERO = 1e-8
"""Entries of a rotation that are smaller in magnitude count as zero."""


class Marginal(Protocol):
    """Distribution of one latent, such as a frozen distribution of ``scipy.stats``."""

    def cdf(self, x: Values, /) -> Values:
        """Return the cumulative distribution function at ``x``."""
        ...

    def ppf(self, q: Values, /) -> Values:
        """Return the quantiles of the probabilities ``q``."""
        ...

    def pdf(self, x: Values, /) -> Values:
        """Return the density at ``x``."""
        ...


@dataclass(frozen=True, eq=False)
class EmpiricalMarginal:
    """Empirical distribution of values, interpolated between neighboring values.

    Args:
        values: Finite values of shape ``(n,)``, at least two of them different. Equal
            values are merged, and keep their joint probability.

    Example:
        >>> marginal = EmpiricalMarginal([0.0, 1.0, 3.0])
        >>> marginal.cdf(np.array([0.0, 1.0, 2.0])).round(3)
        array([0.167, 0.5  , 0.667])
        >>> marginal.ppf(np.array([0.5]))
        array([1.])
    """

    values: ArrayLike
    _knots: Values = field(init=False, repr=False)
    _shares: Values = field(init=False, repr=False)

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        check_shape("values", values, ("n",))
        check_finite("values", values)
        knots, counts = np.unique(values, return_counts=True)
        if len(knots) < 2:
            raise ValueError(
                f"values must contain at least two different values, got {len(knots)}. "
                "A latent that never varies has no density."
            )
        object.__setattr__(self, "_knots", knots)
        # Each value is at the middle of its step, so that no probability is 0 or 1.
        object.__setattr__(
            self, "_shares", (np.cumsum(counts) - 0.5 * counts) / len(values)
        )

    def cdf(self, x: Values, /) -> Values:
        """Return the cumulative distribution function at ``x``."""
        return np.interp(x, self._knots, self._shares)

    def ppf(self, q: Values, /) -> Values:
        """Return the quantiles of ``q``, limited to the range of the values."""
        return np.interp(q, self._shares, self._knots)

    def pdf(self, x: Values, /) -> Values:
        """Return the density at ``x``: the slope between neighboring values."""
        slopes = np.diff(self._shares) / np.diff(self._knots)
        segment = np.searchsorted(self._knots, x, side="right") - 1
        return slopes[segment.clip(0, len(slopes) - 1)]


@dataclass(frozen=True, eq=False, kw_only=True)
class EntanglingMap:
    r"""Map that mixes all latents with each other but keeps their joint distribution.

    Each of several independent latents is transformed to a standard normal variable,
    the normal variables are rotated, and each is transformed back to the distribution
    it had. A rotation leaves the law of independent normal variables unchanged, so the
    result has the same joint distribution as the original and no unsupervised method
    can tell them apart. Yet each new latent depends on all old ones.

    .. math:: f(u) = g^{-1}\bigl(h^{-1}(A \, h(g(u)))\bigr)

    with :math:`g` the distribution functions, :math:`h` the normal quantile function
    and :math:`A` orthogonal without zeros. Every such :math:`A` gives another map, so
    there are infinitely many; see :func:`random_rotation`.

    Args:
        marginals: Distributions of the latents, at least two, each with ``cdf``,
            ``ppf`` and ``pdf``. See :func:`empirical_marginals`.
        rotation: Orthogonal matrix :math:`A` of shape ``(n_latents, n_latents)``
            without zeros: at a zero, a new latent would not depend on an old one. The
            identity and permutations, with or without changes of sign, only rename
            latents and are refused. Default: :func:`dense_rotation`.

    Example:
        >>> from scipy.stats import expon, uniform
        >>> entangle = EntanglingMap(marginals=(uniform(), expon()))
        >>> codes = np.array([[0.2, 1.0], [0.7, 0.1]])
        >>> mixed = entangle(codes)
        >>> mixed.round(3)
        array([[0.361, 0.226],
               [0.289, 2.33 ]])
        >>> bool(np.allclose(entangle.inverse(mixed), codes))
        True

    References:
        Locatello, Bauer, Lucic, Rätsch, Gelly, Schölkopf and Bachem (2019), Challenging
        Common Assumptions in the Unsupervised Learning of Disentangled Representations,
        Theorem 1 and appendix A. https://arxiv.org/abs/1811.12359
    """

    marginals: Sequence[Marginal]
    rotation: Values = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        n = len(self.marginals)
        if n < 2:
            raise ValueError(
                f"EntanglingMap needs at least two marginals, got {n}. A single latent "
                "cannot be entangled."
            )
        rotation = np.asarray(self.rotation, dtype=np.float64)
        if not rotation.size:
            rotation = dense_rotation(n)
        is_square = rotation.shape == (n, n)
        if not is_square or not np.allclose(rotation @ rotation.T, np.eye(n)):
            raise ValueError(
                f"rotation must be an orthogonal matrix of shape {(n, n)}, got shape "
                f"{rotation.shape}"
                + (", which is not orthogonal." if is_square else ".")
            )
        zeros = np.argwhere(np.abs(rotation) < _ZERO)
        if len(zeros):
            new, old = zeros[0].tolist()
            raise ValueError(
                f"rotation must not contain zeros, got {len(zeros)}. With "
                f"rotation[{new}, {old}] = {rotation[new, old]:.3g}, new latent {new} "
                f"would not depend on old latent {old}. Use dense_rotation({n}) or "
                f"random_rotation({n})."
            )
        object.__setattr__(self, "rotation", rotation)

    def __call__(self, codes: ArrayLike) -> Values:
        """Entangle codes.

        Args:
            codes: Codes of shape ``(n_rows, n_latents)``, within the support of the
                marginals.

        Returns:
            Entangled codes of the same shape. If the codes follow the marginals, so do
            these.
        """
        return self._back(self._normal(codes) @ self.rotation.T)

    def inverse(self, codes: ArrayLike) -> Values:
        """Return the codes that the map takes to the given ones."""
        return self._back(self._normal(codes) @ self.rotation)

    def jacobian(self, codes: ArrayLike) -> Values:
        r"""Return the derivatives of the new latents with respect to the old ones.

        .. math:: \frac{\partial f_i}{\partial u_j} =
            \frac{\varphi(y_i)}{p_i(f_i)} \, A_{ij} \, \frac{p_j(u_j)}{\varphi(x_j)},
            \qquad x = h(g(u)), \; y = A x

        Args:
            codes: Codes of shape ``(n_rows, n_latents)``.

        Returns:
            Derivatives of shape ``(n_rows, n_latents, n_latents)``, new latents first.
        """
        old = np.asarray(codes, dtype=np.float64)
        normal = self._normal(old)
        rotated = normal @ self.rotation.T
        new = self._back(rotated)
        before, after = self._density(old), self._density(new)
        columns = before / _normal_density(normal)
        rows = _normal_density(rotated) / after
        return rows[:, :, None] * self.rotation * columns[:, None]

    def _normal(self, codes: ArrayLike) -> Values:
        array = np.asarray(codes, dtype=np.float64)
        check_shape("codes", array, ("n_rows", len(self.marginals)))
        check_finite("codes", array)
        shares = [m.cdf(column) for m, column in self._columns(array)]
        # The normal quantiles of 0 and 1 are infinite.
        return ndtri(np.stack(shares, axis=1).clip(_LOWEST, _HIGHEST))

    def _back(self, normal: Values) -> Values:
        shares = ndtr(normal).clip(_LOWEST, _HIGHEST)
        return np.stack([m.ppf(column) for m, column in self._columns(shares)], axis=1)

    def _density(self, codes: Values) -> Values:
        return np.stack([m.pdf(column) for m, column in self._columns(codes)], axis=1)

    def _columns(self, array: Values) -> list[tuple[Marginal, Values]]:
        return list(zip(self.marginals, array.T, strict=True))


def empirical_marginals(codes: ArrayLike) -> tuple[EmpiricalMarginal, ...]:
    """Empirical distribution of each latent.

    An :class:`EntanglingMap` with these marginals keeps the joint distribution only if
    the latents are independent.

    Args:
        codes: Codes of shape ``(n_rows, n_latents)``.
    """
    array = np.asarray(codes, dtype=np.float64)
    check_shape("codes", array, ("n_rows", "n_latents"))
    return tuple(EmpiricalMarginal(column) for column in array.T)


def dense_rotation(n: int) -> Values:
    """Orthogonal matrix without zeros, whose entries are similar in magnitude.

    It is the reflection ``2 / m - I`` for the largest odd divisor ``m`` of ``n``,
    doubled as Hadamard matrices are until it has ``n`` rows.

    Args:
        n: Number of rows and columns, at least 2.

    Example:
        >>> dense_rotation(2).round(3)
        array([[ 0.707,  0.707],
               [ 0.707, -0.707]])
    """
    check_integer("n", n, least=2)
    odd = n // (n & -n)
    matrix = 2.0 / odd - np.eye(odd)
    while len(matrix) < n:
        matrix = np.kron([[1, 1], [1, -1]], matrix) / np.sqrt(2)
    return matrix


def random_rotation(n: int, *, seed: int = 0) -> Values:
    """Random orthogonal matrix without zeros, uniform over all orthogonal matrices.

    Each seed gives another member of the infinite family of maps in the impossibility
    theorem.

    Args:
        n: Number of rows and columns, at least 2.
        seed: Seed of the draw.

    Example:
        >>> rotation = random_rotation(3, seed=1)
        >>> bool(np.allclose(rotation @ rotation.T, np.eye(3)))
        True
        >>> bool(np.allclose(rotation, random_rotation(3, seed=2)))
        False

    References:
        Mezzadri (2007), How to Generate Random Matrices from the Classical Compact
        Groups. https://arxiv.org/abs/math-ph/0609050
    """
    check_integer("n", n, least=2)
    generator = numpy_generator(seed, "random rotation")
    while True:
        matrix, triangle = np.linalg.qr(generator.normal(size=(n, n)))
        # Without these signs the draw would depend on the conventions of QR.
        matrix = matrix * np.sign(np.diag(triangle))
        if np.abs(matrix).min() >= _ZERO:
            return matrix


def _normal_density(x: Values) -> Values:
    return np.exp(-0.5 * np.square(x)) / np.sqrt(2.0 * np.pi)
