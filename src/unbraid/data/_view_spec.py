"""ViewSpec: a view of a dataset by its name and options, as plain data."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import pydantic

from unbraid.foundation import (
    parse_options,
    split_outside,
    suggest,
    write_options,
)

from ._dataset import AbstractDataset
from ._imperfect_labels import add_label_noise, keep_labels
from ._options import check_options, list_options
from ._shifts import correlate, hold_out

Values = float | tuple[float, ...]


def _noise(
    dataset: AbstractDataset,
    *,
    level: Literal[1, 2, 3] | None = None,
    p: float | None = None,
    factors: tuple[str, ...] | None = None,
    seed: int = 0,
) -> AbstractDataset:
    if (level is None) == (p is None):
        raise ValueError(f"noise needs either level or p, got {level} and {p}.")
    if level is not None and factors is not None:
        raise ValueError("noise takes factors with p only, not with level.")
    if level is not None:
        return add_label_noise(dataset, level, seed=seed)
    noise: dict[str | int, float] = {}
    noise.update(dict.fromkeys(factors or dataset.factor_names, p or 0.0))
    return add_label_noise(dataset, noise, seed=seed)


def _labels(
    dataset: AbstractDataset,
    *,
    n: int | None = None,
    factors: tuple[str, ...] | None = None,
    seed: int = 0,
) -> AbstractDataset:
    return keep_labels(dataset, n=n, factors=factors, seed=seed)


def _correlate(
    dataset: AbstractDataset,
    *,
    first: str,
    second: str,
    width: float = 0.2,
    inverse: bool = False,
) -> AbstractDataset:
    return correlate(dataset, first, second, width=width, inverse=inverse)


def _without(dataset: AbstractDataset, **conditions: Values) -> AbstractDataset:
    return hold_out(dataset, _as_lists(conditions))[0]


def _only(dataset: AbstractDataset, **conditions: Values) -> AbstractDataset:
    return hold_out(dataset, _as_lists(conditions))[1]


def _as_lists(
    conditions: Mapping[str, Values],
) -> dict[str | int, tuple[float, ...]]:
    return {
        factor: values if isinstance(values, tuple) else (values,)
        for factor, values in conditions.items()
    }


VIEWS: dict[str, Callable[..., AbstractDataset]] = {
    "noise": _noise,
    "labels": _labels,
    "correlate": _correlate,
    "without": _without,
    "only": _only,
}
"""Views by name: functions whose arguments are the options."""


class ViewSpec(pydantic.BaseModel):
    """A view of a dataset by its name and its options.

    On the command line and in files it is a string, ``name:option=value,option=value``.

    - ``noise``: wrong labels, ``p=0.1`` for all factors or for ``factors=[a,b]``, or
      the noise model ``level=2``; see :func:`add_label_noise`.
    - ``labels``: labels for ``n=100`` rows only, or of ``factors=[a,b]`` only; see
      :func:`keep_labels`.
    - ``correlate``: ``first=a,second=b,width=0.2``; see :func:`correlate`.
    - ``without``: all rows except those with certain values, ``a=[0,1],b=2``; see
      :func:`hold_out`.
    - ``only``: the rows that ``without`` excludes.

    Attributes:
        name: Name of the view.
        options: Options of the view. Strings are converted to the type of the option.

    Example:
        >>> from unbraid.data import XYSquares
        >>> len(ViewSpec.parse("without:x_R=0,y_R=[4,5]").apply(XYSquares(n_squares=1)))
        62
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    name: str
    options: dict[str, Any] = {}

    @pydantic.field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        return _require_view(name)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a string.

        Args:
            text: Name of the view, with options after a colon.

        Raises:
            ValueError: If there is no such view, or an option has no value or is given
                twice.
        """
        name, _, rest = text.partition(":")
        _require_view(name)
        return cls(name=name, options=parse_options(name, rest))

    def apply(self, dataset: AbstractDataset) -> AbstractDataset:
        """Return the view of a dataset.

        Raises:
            ValueError: If an option is unknown, missing or has a wrong value, or the
                dataset lacks the labels that the view needs.
        """
        view = VIEWS[self.name]
        options = check_options(view, self.options, self.name)
        parameters = inspect.signature(view).parameters
        missing = [
            option
            for option in list_options(view)
            if option not in options
            and parameters[option].default is inspect.Parameter.empty
        ]
        if missing:
            raise ValueError(f"{self.name} needs the option {missing[0]}.")
        return view(dataset, **options)

    def __str__(self) -> str:
        """Return a string that can be parsed again."""
        return write_options(self.name, self.options)

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _read(cls, value: Any, read: pydantic.ModelWrapValidatorHandler[Self]) -> Self:
        return cls.parse(value) if isinstance(value, str) else read(value)


def _require_view(name: str) -> str:
    if name not in VIEWS:
        raise ValueError(
            f"There is no view {name!r}.{suggest(name, VIEWS)} Choose among "
            f"{', '.join(VIEWS)}."
        )
    return name


def split_views(text: str) -> tuple[str, list[str]]:
    """Split a string into a dataset and its views, which follow after a plus.

    Only a plus before the name of a view separates, outside of brackets and quotes, so
    that numbers (``1e+3``) and most paths may contain one.

    Example:
        >>> split_views("xy_squares:spacing=4+noise:p=0.1+labels:n=100")
        ('xy_squares:spacing=4', ['noise:p=0.1', 'labels:n=100'])
    """
    base, *rest = split_outside(text, "+")
    views: list[str] = []
    for piece in rest:
        if piece.partition(":")[0] in VIEWS:
            views.append(piece)
        elif views:
            views[-1] += f"+{piece}"
        else:
            base += f"+{piece}"
    return base, views
