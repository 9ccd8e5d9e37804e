"""``n_jobs`` as scikit-learn counts it."""

from typing import Any

from ._validation import check_integer


def count_jobs(n_jobs: int | None) -> int:
    """Return how many jobs run at once.

    Args:
        n_jobs: A positive number; -1 for one job per core, -2 for one less, and so on;
            ``None`` for 1, unless a ``joblib.parallel_config`` says otherwise.

    Raises:
        ValueError: If ``n_jobs`` is 0 or no integer.

    Example:
        >>> count_jobs(2), count_jobs(None), count_jobs(-1) >= 1
        (2, 1, True)
        >>> count_jobs(0)
        Traceback (most recent call last):
        ValueError: n_jobs must not be 0. Use -1 for all cores.
    """
    from joblib import effective_n_jobs  # slow to import

    if n_jobs is not None:
        check_integer("n_jobs", n_jobs)
        if n_jobs == 0:
            raise ValueError("n_jobs must not be 0. Use -1 for all cores.")
    count: Any = effective_n_jobs  # its annotation lacks None
    return count(n_jobs)
