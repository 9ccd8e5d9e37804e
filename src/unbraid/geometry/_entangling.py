"""Maps of the impossibility theorem: they entangle codes and keep their joint law."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from unbraid.foundation import numpy_generator

Values = NDArray[np.float64]

_LOWEST = np.finfo(np.float64).tiny
_HIGHEST = 1.0 - np.finfo(np.float64).epsneg

_ZERO = 1e-8
"""Entries of a rotation below this count as zero."""


class Marginal(Protocol):
    """Distribution of one latent, such as a frozen one of ``scipy.stats``."""

    def cdf(self, x: Values, /) -> Values:
        """Share of the distribution up to ``x``."""
        ...

    def ppf(self, q: Values, /) -> Values:
        """Where the share ``q`` is reached."""
        ...

    def pdf(self, x: Values, /) -> Values:
        """Density at ``x``."""
        ...


@dataclass(frozen=True, eq=False)
class EmpiricalMarginal:
    """The distribution of given values, spread evenly between neighbors.

    Args:
        values: Shape ``(n,)``, at least two different ones, finite; equal ones count
            as one, with the share of all of them.

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
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError(
                "EmpiricalMarginal: expected finite numbers (n,), got shape "
                f"{values.shape}, {int((~np.isfinite(values)).sum())} not finite."
            )
        knots, counts = np.unique(values, return_counts=True)
        if len(knots) < 2:
            raise ValueError(
                "EmpiricalMarginal: expected at least two different values, got "
                f"{len(knots)}. A latent that never varies has no density."
            )
        object.__setattr__(self, "_knots", knots)
        # The middle of each value's share, so that none is 0 or 1.
        object.__setattr__(
            self, "_shares", (np.cumsum(counts) - 0.5 * counts) / len(values)
        )

    def cdf(self, x: Values, /) -> Values:
        """Share of the distribution up to ``x``."""
        return np.interp(x, self._knots, self._shares)

    def ppf(self, q: Values, /) -> Values:
        """Where the share ``q`` is reached; the outermost value beyond all shares."""
        return np.interp(q, self._shares, self._knots)

    def pdf(self, x: Values, /) -> Values:
        """Density at ``x``: the slope between neighboring values."""
        slopes = np.diff(self._shares) / np.diff(self._knots)
        place = np.searchsorted(self._knots, x, side="right") - 1
        return slopes[place.clip(0, len(slopes) - 1)]


@dataclass(frozen=True, eq=False, kw_only=True)
class EntanglingMap:
    r"""Mixes every latent into every other one and keeps their joint distribution.

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
        marginals: Distribution of each latent, with ``cdf``, ``ppf`` and ``pdf``, two
            or more. See :func:`empirical_marginals`.
        rotation: Orthogonal matrix :math:`A` of shape ``(n_latents, n_latents)``
            without zeros. Where it had a zero, a new latent would not depend on an old
            one; the identity and permutations, with or without changes of sign, only
            rename latents and are refused. :func:`dense_rotation` when not given.

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
                f"EntanglingMap: expected two marginals or more, got {n}. One latent "
                "cannot be entangled."
            )
        rotation = np.asarray(self.rotation, dtype=np.float64)
        if not rotation.size:
            rotation = dense_rotation(n)
        is_square = rotation.shape == (n, n)
        if not is_square or not np.allclose(rotation @ rotation.T, np.eye(n)):
            raise ValueError(
                f"EntanglingMap: rotation must be an orthogonal matrix of shape "
                f"{(n, n)}, got shape {rotation.shape}"
                + (", which is not orthogonal." if is_square else ".")
            )
        zeros = np.argwhere(np.abs(rotation) < _ZERO)
        if len(zeros):
            new, old = zeros[0].tolist()
            raise ValueError(
                f"EntanglingMap: rotation must not contain zeros, got {len(zeros)}. "
                f"With rotation[{new}, {old}] = {rotation[new, old]:.3g}, new latent "
                f"{new} would not depend on old latent {old}. Use dense_rotation({n}) "
                f"or random_rotation({n})."
            )
        object.__setattr__(self, "rotation", rotation)

    def __call__(self, codes: ArrayLike) -> Values:
        """Entangled codes.

        Args:
            codes: Shape ``(n_rows, n_latents)``, within the support of the marginals.

        Returns:
            Same shape, distributed as the marginals if the codes were.
        """
        return self._back(self._normal(codes) @ self.rotation.T)

    def inverse(self, codes: ArrayLike) -> Values:
        """Codes that the map takes to the given ones."""
        return self._back(self._normal(codes) @ self.rotation)

    def jacobian(self, codes: ArrayLike) -> Values:
        r"""How each new latent changes with each old one.

        .. math:: \frac{\partial f_i}{\partial u_j} =
            \frac{\varphi(y_i)}{p_i(f_i)} \, A_{ij} \, \frac{p_j(u_j)}{\varphi(x_j)},
            \qquad x = h(g(u)), \; y = A x

        Args:
            codes: Shape ``(n_rows, n_latents)``.

        Returns:
            Shape ``(n_rows, n_latents, n_latents)``, new latents first.
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
        n = len(self.marginals)
        if array.ndim != 2 or array.shape[1] != n or not np.isfinite(array).all():
            raise ValueError(
                f"EntanglingMap: expected finite codes (n_rows, {n}), got shape "
                f"{array.shape}, {int((~np.isfinite(array)).sum())} not finite."
            )
        shares = [m.cdf(column) for m, column in self._columns(array)]
        # At the very ends the normal quantile is infinite.
        return ndtri(np.stack(shares, axis=1).clip(_LOWEST, _HIGHEST))

    def _back(self, normal: Values) -> Values:
        shares = ndtr(normal).clip(_LOWEST, _HIGHEST)
        return np.stack([m.ppf(column) for m, column in self._columns(shares)], axis=1)

    def _density(self, codes: Values) -> Values:
        return np.stack([m.pdf(column) for m, column in self._columns(codes)], axis=1)

    def _columns(self, array: Values) -> list[tuple[Marginal, Values]]:
        return list(zip(self.marginals, array.T, strict=True))


def empirical_marginals(codes: ArrayLike) -> tuple[EmpiricalMarginal, ...]:
    """Distribution of every latent as seen in codes.

    The map made of these keeps distributions only as far as the codes are independent.

    Args:
        codes: Shape ``(n_rows, n_latents)``.
    """
    array = np.asarray(codes, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(
            f"empirical_marginals: expected codes (n_rows, n_latents), got shape "
            f"{array.shape}."
        )
    return tuple(EmpiricalMarginal(column) for column in array.T)


def dense_rotation(n: int) -> Values:
    """Orthogonal matrix without zeros, whose entries are rather even in size.

    A reflection that takes two parts from each entry for the odd part of ``n``, doubled
    in the manner of Hadamard matrices until it is large enough.

    Args:
        n: Rows and columns, at least 2.

    Example:
        >>> dense_rotation(2).round(3)
        array([[ 0.707,  0.707],
               [ 0.707, -0.707]])
    """
    if n < 2:
        raise ValueError(f"dense_rotation: expected n from 2, got {n!r}.")
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
    if n < 2:
        raise ValueError(f"random_rotation: n must be at least 2, got {n!r}.")
    generator = numpy_generator(seed, "random rotation")
    while True:
        matrix, triangle = np.linalg.qr(generator.normal(size=(n, n)))
        # Without these signs the draw would depend on the conventions of QR.
        matrix = matrix * np.sign(np.diag(triangle))
        if np.abs(matrix).min() >= _ZERO:
            return matrix


def _normal_density(x: Values) -> Values:
    return np.exp(-0.5 * np.square(x)) / np.sqrt(2.0 * np.pi)
