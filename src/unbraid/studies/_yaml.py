"""YAML as people write it: numbers such as 1e-3 are numbers, no key comes twice."""

import re
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    """Plain data only, with the numbers of YAML 1.2, and each key once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for place, key in enumerate(keys):
            if key in keys[:place]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} comes twice", node.start_mark
                )
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"),
    list("-+0123456789."),
)


def read_yaml(text: str, where: str) -> Any:
    """Plain data from text.

    Args:
        text: In YAML.
        where: It comes from, for the error.

    Raises:
        ValueError: In one sentence, with the line.

    Example:
        >>> read_yaml("{rate: 1e-3, sizes: [1, 2]}", "example")
        {'rate': 0.001, 'sizes': [1, 2]}
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise ValueError(f"{where}: expected YAML, got {problem}{line}.") from error
    except (RecursionError, TypeError) as error:  # nested too deep, or odd keys
        raise ValueError(f"{where}: expected YAML, got {error}.") from error


def write_yaml(data: Any) -> str:
    """Text of plain data, keys in their order."""
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
