"""Reconstruction error of a model."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_finite, check_option
from unbraid.metrics._score import Score

Likelihood = Literal["mean_squared", "gaussian", "bernoulli"]

_VALUES_PER_BATCH = 2**22


def reconstruction_error(
    originals: ArrayLike,
    reconstructions: ArrayLike,
    *,
    likelihood: Likelihood = "mean_squared",
) -> Score:
    r"""Error of reconstructions, averaged over observations.

    Args:
        originals: Observations :math:`x`, ``(n, ...)``; for ``"bernoulli"`` from 0
            to 1.
        reconstructions: Means :math:`m` of the same shape and scale; for
            ``"bernoulli"`` the probabilities, not their logits.
        likelihood: ``"mean_squared"``: :math:`(x - m)^2`, mean over pixels.
            ``"gaussian"``: :math:`-\log \mathcal{N}(x; m, 1)`, sum over pixels, nats.
            ``"bernoulli"``: :math:`-x \log m - (1 - x) \log(1 - m)`, sum over pixels,
            nats; infinite, with the reason in ``note``, if an observation has
            probability 0.

    Returns:
        Lower is better; from 0 for ``"mean_squared"`` and ``"bernoulli"``. ``details``
        has the ``standard_error``.

    Raises:
        ValueError: If shapes differ, numbers are not finite or outside their range.

    Example:
        >>> reconstruction_error([[0.0, 1.0]], [[0.5, 0.5]])
        0.25
        >>> score = reconstruction_error([[0, 1]], [[0.5, 0.5]], likelihood="bernoulli")
        >>> round(score, 6)
        1.386294
    """
    caller = "reconstruction_error"
    check_option(f"{caller}: likelihood", likelihood, Likelihood)
    seen, made = np.asarray(originals), np.asarray(reconstructions)
    if seen.shape != made.shape or seen.ndim < 1 or not seen.size:
        raise ValueError(
            f"{caller}: originals and reconstructions must have the same shape and not "
            f"be empty, got {seen.shape} and {made.shape}."
        )
    seen, made = seen.reshape(len(seen), -1), made.reshape(len(made), -1)
    errors = np.empty(len(seen))
    step = max(1, _VALUES_PER_BATCH // seen.shape[1])
    for start in range(0, len(seen), step):
        part = slice(start, start + step)
        x = _read(f"{caller}: originals", seen[part], likelihood)
        m = _read(f"{caller}: reconstructions", made[part], likelihood)
        errors[part] = _error(x, m, likelihood)
    finite = np.isfinite(errors)
    return Score(
        errors.mean(),
        name="reconstruction_error",
        variant=likelihood,
        details={
            "standard_error": errors.std() / np.sqrt(len(errors))
            if finite.all()
            else np.inf
        },
        note=""
        if finite.all()
        else f"infinite: {(~finite).sum()} observations had no probability",
    )


def _error(
    x: NDArray[np.float64], m: NDArray[np.float64], likelihood: Likelihood
) -> NDArray[np.float64]:
    if likelihood == "bernoulli":
        from scipy.special import xlog1py, xlogy  # slow to import

        return -(xlogy(x, m) + xlog1py(1.0 - x, -m)).sum(axis=1)
    squared = (x - m) ** 2
    if likelihood == "mean_squared":
        return squared.mean(axis=1)
    return 0.5 * (squared + np.log(2.0 * np.pi)).sum(axis=1)


def _read(
    name: str, values: NDArray[np.generic], likelihood: Likelihood
) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be real numbers, got {values.dtype}.")
    # Images of bytes would wrap around when subtracted.
    numbers = values.astype(np.float64)
    check_finite(name, numbers)
    if likelihood == "bernoulli" and (numbers.min() < 0.0 or numbers.max() > 1.0):
        raise ValueError(
            f"{name} must be from 0 to 1 for a Bernoulli likelihood, got "
            f"{numbers.min():.6g} to {numbers.max():.6g}. Divide images by 255."
        )
    return numbers
