"""What a refused setting must say."""

import re


def refusal_of(options):
    """A pattern of messages that begin with the setting's name and end with its value.

    Args:
        options: Settings by name, the refused one first.
    """
    name, value = next(iter(options.items()))
    return rf"^{name}\b.* must .*got .*{re.escape(repr(value))}"
