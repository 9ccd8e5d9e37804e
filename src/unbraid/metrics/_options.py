"""Options that are one of a few words."""

from typing import Any, get_args


def check_option(who: str, option: str, value: Any, allowed: Any) -> None:
    """Raise an error of one sentence if ``value`` is not one of a ``Literal``."""
    if value not in get_args(allowed):
        raise ValueError(
            f"{who}: expected {option} among {get_args(allowed)}, got {value!r}."
        )
