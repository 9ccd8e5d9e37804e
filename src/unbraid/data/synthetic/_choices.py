"""Check of options of which several may be chosen."""

from typing import Any

from unbraid.foundation import check_not_empty, check_option, check_unique


def check_choices(name: str, values: tuple[str, ...], options: Any) -> None:
    """Require at least one option, and none of them twice.

    Args:
        name: Name of the argument.
        values: Chosen options.
        options: A ``Literal`` type of all options.
    """
    check_not_empty(name, values)
    for index, value in enumerate(values):
        check_option(f"{name}[{index}]", value, options)
    check_unique(name, values)
