"""Objects from a Python file of the user, such as ``mine.py:LogVAE``."""

import hashlib
import re
import sys
import traceback
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

_IMPORTED: set[str] = set()
"""Names of the modules that were imported from files of the user."""

_FILE_NAME = re.compile(r"(?P<path>.*\.py):(?P<attribute>[^\W\d]\w*)")


def is_file_name(name: object) -> bool:
    """Return whether a name has the form ``FILE.py:NAME``.

    Example:
        >>> is_file_name("mine.py:LogVAE"), is_file_name("beta_vae")
        (True, False)
    """
    return isinstance(name, str) and _FILE_NAME.fullmatch(name) is not None


def resolve_file_names(data: Any) -> Any:
    """Return plain data with absolute paths in all names such as ``mine.py:LogVAE``.

    Example:
        >>> resolve_file_names({"name": "/home/me/../you/mine.py:LogVAE", "beta": 2})
        {'name': '/home/you/mine.py:LogVAE', 'beta': 2}
    """
    if isinstance(data, Mapping):
        return {
            resolve_file_names(key): resolve_file_names(part)
            for key, part in data.items()
        }
    if isinstance(data, list):
        return [resolve_file_names(part) for part in data]
    if not is_file_name(data):
        return data
    path, _, attribute = data.rpartition(":")
    if "," in data and not _resolve(path).is_file():  # several names in one text
        return ",".join(resolve_file_names(part.strip()) for part in data.split(","))
    return f"{_resolve(path)}:{attribute}"


def find_own_name(item: Any) -> str:
    """Return the name from which :func:`load_from_file` loads an object again.

    Args:
        item: Function or class.

    Returns:
        A name such as ``/home/me/mine.py:LogVAE``; empty if the object is not defined
        under its own name in a file of the user.
    """
    module, name = getattr(item, "__module__", ""), getattr(item, "__qualname__", "")
    if module not in _IMPORTED or vars(sys.modules[module]).get(name) is not item:
        return ""
    return f"{sys.modules[module].__file__}:{name}"


def find_own_frame(error: BaseException) -> str:
    """Return file and line of the user's code that raised an error; empty if none did.

    Args:
        error: A caught error.
    """
    own = {getattr(sys.modules[name], "__file__", "") for name in _IMPORTED}
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{f.filename}, line {f.lineno}" for f in frames if f.filename in own]
    return lines[-1] if lines else ""


def load_from_file(name: str) -> tuple[str, Any]:
    """Import a file, and return an object in it.

    A file is imported once per process, as a module is.

    Args:
        name: Path of the file and name of the object, such as ``mine.py:LogVAE``.

    Returns:
        The name with the absolute path, which other processes understand wherever they
        run, and the object.

    Raises:
        ValueError: If there is no such file or object, or if the file cannot be
            imported.
    """
    match = _FILE_NAME.fullmatch(name)
    assert match is not None, name
    path = _resolve(match["path"])
    module = _import_file(path)
    try:
        return f"{path}:{match['attribute']}", getattr(module, match["attribute"])
    except AttributeError:
        raise ValueError(f"{path} does not define {match['attribute']}.") from None


def _resolve(path: str) -> Path:
    return Path(path).expanduser().resolve()


def _import_file(path: Path) -> ModuleType:
    # Two files with the same name must not share a module.
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    # As for a script, files in the same folder can be imported.
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        del sys.modules[name]
        raise ValueError(
            f"{path} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    finally:
        sys.path.remove(str(path.parent))
    _IMPORTED.add(name)
    return module
