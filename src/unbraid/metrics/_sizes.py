"""How many of something a caller may ask for."""


def check_size(who: str, name: str, value: int, *, least: int = 1) -> None:
    """Refuse a count that is not a whole number from ``least``."""
    if isinstance(value, bool) or value != int(value) or value < least:
        raise ValueError(
            f"{who}: expected {name} to be a whole number from {least}, got {value!r}."
        )
