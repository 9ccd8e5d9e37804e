"""Metric: a function of codes and factors, with its properties and options."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import read_option, require_option, write_options

from ._inputs import Factors
from ._score import Score

Rows = Literal["all", "some", "traversals"]
Input = Literal["log_variances", "distance"]

_NOT_OPTIONS = ("seed", "split", "log_variances", "distance")
"""Arguments that an evaluation sets, or that hold arrays."""

_NEEDS: Mapping[Input, str] = {
    "log_variances": "needs the log-variances of the posteriors, which these codes "
    "do not have. Score a variational model, or a Representation with log_variances",
    "distance": "needs the images behind the codes. Score a model on a dataset, or "
    "pass the images as observations",
}


@dataclass(frozen=True)
class Metric:
    """A metric and its properties.

    Attributes:
        function: Function of codes (and :class:`Factors`, if ``uses_factors``), with an
            argument ``seed`` if it is random. Its other arguments are options. Returns
            a :class:`Score`, or a record of several.
        higher_is_better: Direction of the score.
        seconds: Approximate processor time on 15,000 rows, 10 latents and the 5 factors
            of dSprites, from which the time of an evaluation is estimated.
        rows: Rows that it uses: ``"all"``, ``"some"`` that it draws at random, or
            ``"traversals"``, rows that differ in one factor only.
        is_standard: Whether it belongs to the standard suite.
        uses_factors: Whether it needs ground truth.
        per_class: Whether its time grows with the number of classes of the factors.
        bounds: Smallest and largest value that its scores can have. ``"latents"`` is
            the number of latents. Intervals stay within the bounds.
        inputs: Arguments that it needs besides codes and factors: ``"log_variances"``
            of the posteriors, or a ``"distance"`` between the images of two rows.
        changes: Attributes that an option changes, by the option as text, such as
            ``{"variant=dlib": {"seconds": 500.0}}``.
        options: Values of options that differ from the defaults of the function.
    """

    function: Callable[..., Any]
    seconds: float
    rows: Rows = "all"
    higher_is_better: bool = True
    is_standard: bool = False
    uses_factors: bool = True
    per_class: bool = False
    bounds: tuple[float, float | Literal["latents"]] = (-math.inf, math.inf)
    inputs: tuple[Input, ...] = ()
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def range(self, n_latents: int) -> tuple[float, float]:
        """Return the bounds for codes with this number of latents."""
        low, high = self.bounds
        return low, n_latents if high == "latents" else high

    def scores(
        self,
        codes: NDArray[np.float64],
        factors: Factors | None,
        seed: int,
        inputs: Mapping[Input, Any] | None = None,
    ) -> tuple[Score, ...]:
        """Call the metric, which returns one score or a record of several.

        Args:
            codes: Codes, ``(n_rows, n_latents)``.
            factors: Factors of the same rows.
            seed: Seed of what is random.
            inputs: Further arguments for the same rows; those that the metric does not
                need are ignored.

        Raises:
            ValueError: If an input is missing, or the metric refuses them.
        """
        arguments: dict[str, Any] = {"seed": seed} if self.is_random else {}
        for name in self.inputs:
            arguments[name] = (inputs or {}).get(name)
            if arguments[name] is None:
                raise ValueError(f"{self.name}{self.suffix} {_NEEDS[name]}.")
        given: list[Any] = [codes, factors] if self.uses_factors else [codes]
        result = self.function(*given, **arguments, **self.options)
        parts = getattr(result, "__dict__", {}).values()
        if isinstance(result, Score):
            parts = [result]
        scores = tuple(part for part in parts if isinstance(part, Score))
        if not scores:
            raise ValueError(
                f"{self.name} must return a Score or a record of scores, got "
                f"{result!r}."
            )
        if self.suffix:
            return tuple(s.replace(name=s.name + self.suffix) for s in scores)
        return scores

    def with_options(self, name: str, options: Mapping[str, Any]) -> "Metric":
        """Return the metric with other values of some options.

        Args:
            name: Name of the metric, for error messages.
            options: Values by name, each of its type or a string in YAML.

        Raises:
            ValueError: If an option is unknown or has a wrong value; suggests the
                nearest one.
        """
        types = self.option_types
        for option in options:
            require_option(name, option, types)
        values = {
            option: read_option(name, option, options[option], hint)
            for option, hint in types.items()
            if option in options
        }
        changed: dict[str, Any] = {}
        for option, value in values.items():
            changed |= self.changes.get(f"{option}={value}", {})
        return replace(self, options=values, **changed)

    @property
    def option_types(self) -> dict[str, Any]:
        """Types of the options by name, in the order of the function's arguments."""
        try:
            signature = inspect.signature(self.function, eval_str=True)
        except NameError:  # of types that only type checkers import
            signature = inspect.signature(self.function)
        return {
            each.name: object
            if each.annotation is each.empty or isinstance(each.annotation, str)
            else each.annotation
            for each in list(signature.parameters.values())[1 + self.uses_factors :]
            if each.name not in _NOT_OPTIONS
            and each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)
        }

    @property
    def suffix(self) -> str:
        """Options in the names of scores, such as ``[bins=10]``; empty if none."""
        return f"[{write_options('', self.options)}]" if self.options else ""

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def is_random(self) -> bool:
        """Whether the metric takes a seed."""
        return "seed" in inspect.signature(self.function).parameters
