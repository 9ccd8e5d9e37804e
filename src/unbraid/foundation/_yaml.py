"""Reading and writing YAML 1.2, with limits on what a text may expand to."""

import re
from collections.abc import Hashable
from typing import Any

import yaml
from yaml.composer import ComposerError

MAX_CHARACTERS = 20_000_000
"""Length of the longest text that is parsed."""

MAX_VALUES = 200_000
"""Largest number of values in a text, counting what aliases repeat.

A study may hold several learned kernels of 129 x 129 numbers per channel.
"""

_MAX_DIGITS = 1_000

_INTEGER = re.compile(r"^[-+]?[0-9]+$|^0o[0-7]+$|^0x[0-9a-fA-F]+$")
_FLOAT = re.compile(
    r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$"
    r"|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$"
)
_NUMBER_STARTS = list("-+0123456789.")
# The scalars of the core schema, in the order in which they are tried.
_RESOLVERS = (
    ("bool", re.compile(r"^(true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    ("int", _INTEGER, _NUMBER_STARTS),
    ("float", _FLOAT, _NUMBER_STARTS),
    ("null", re.compile(r"^(~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
)


class _Loader(yaml.SafeLoader):
    """Plain data only, with the scalars of YAML 1.2, and each key once."""

    # Without the resolvers of YAML 1.1, which reads 010 as 8 and 1:30 as 90.
    yaml_implicit_resolvers: dict[str, Any] = {}

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._n_nodes = 0

    def compose_node(self, parent: Any, index: Any) -> yaml.Node | None:
        """Compose the next node, as long as there are not too many."""
        self._n_nodes += 1
        if self._n_nodes > MAX_VALUES:
            raise _too_many(self.peek_event().start_mark)
        return super().compose_node(parent, index)

    def get_single_node(self) -> yaml.Node | None:
        """Compose the whole text, and count what its aliases repeat."""
        node = super().get_single_node()
        if node is not None:
            _check_size(node, {}, ())
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        seen = set()
        for part, _ in node.value:
            key = self.construct_object(part, deep=True)
            if isinstance(key, Hashable):  # others are refused below
                if key in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key!r} occurs twice", part.start_mark
                    )
                seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        text = str(self.construct_scalar(node))
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        if len(text) > _MAX_DIGITS:  # Python refuses longer ones too
            raise yaml.constructor.ConstructorError(
                None, None, f"a number of {len(text):,} digits", node.start_mark
            )
        return int(text, base)

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        text = str(self.construct_scalar(node)).lower()
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))


class _Dumper(yaml.SafeDumper):
    """Dumper that quotes every text that the loader would read as another type."""

    yaml_implicit_resolvers: dict[str, Any] = {}


for _tag, _pattern, _starts in _RESOLVERS:
    for _kind in (_Loader, _Dumper):
        _kind.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, _starts)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)


def _too_many(mark: Any) -> yaml.YAMLError:
    problem = f"more than {MAX_VALUES:,} values, counting what aliases repeat"
    return ComposerError(None, None, problem, mark)


def _check_size(
    node: yaml.Node, sizes: dict[int, int], above: tuple[yaml.Node, ...]
) -> int:
    """Return the number of values of a node, with its aliases expanded."""
    if id(node) in sizes:
        return sizes[id(node)]
    if any(node is other for other in above):
        raise ComposerError(
            None, None, "an alias that contains itself", node.start_mark
        )
    size = 1
    if isinstance(node, yaml.MappingNode | yaml.SequenceNode):
        inside = (*above, node)
        for part in node.value:
            for child in part if isinstance(part, tuple) else (part,):
                size += _check_size(child, sizes, inside)
    if size > MAX_VALUES:
        raise _too_many(node.start_mark)
    sizes[id(node)] = size
    return size


def read_yaml(text: str, where: str) -> Any:
    """Parse YAML 1.2 into plain data.

    Numbers such as ``1e-3`` are numbers, ``0100`` is one hundred, and ``1:30``,
    ``yes`` and ``1_000`` are text. No key may occur twice.

    Args:
        text: The YAML text.
        where: Name of the source, for error messages.

    Raises:
        ValueError: If the text is not YAML, refers to itself, or expands to too many
            values. The message gives the line.

    Example:
        >>> read_yaml("{rate: 1e-3, steps: 0100, pause: 1:30}", "example")
        {'rate': 0.001, 'steps': 100, 'pause': '1:30'}
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(
            f"{where}: the YAML text is too long ({len(text):,} characters). At most "
            f"{MAX_CHARACTERS:,} are read."
        )
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise ValueError(f"{where}: invalid YAML: {problem}{line}.") from error
    except RecursionError:
        raise ValueError(f"{where}: this YAML is nested too deeply.") from None
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise ValueError(
            f"{where}: invalid YAML: a tag such as !!int or !!set on a value of "
            "another type."
        ) from error


def write_yaml(data: Any) -> str:
    """Write plain data as YAML text that :func:`read_yaml` reads back.

    Args:
        data: Dictionaries, lists, strings, numbers, booleans and ``None``; keys keep
            their order.
    """
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
