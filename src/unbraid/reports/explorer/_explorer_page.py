"""The page of the explorer: its template, style and scripts put together."""

import base64
import hashlib
import json
import re
from importlib import resources
from typing import Any

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def fill_page(content: dict[str, Any]) -> str:
    """The explorer as HTML, with style, scripts and content inside.

    Args:
        content: Plain values, which the page's script reads.
    """
    style = _read("explorer.css")
    parts = {
        "style": style,
        "script": _script(),
        "style_hash": _hash(style),
        "script_hash": script_hash(),
        "data": embed(content),
    }
    # In one pass: what was put in is never looked at again.
    template = _read("explorer.html")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def script_hash() -> str:
    """What a Content-Security-Policy calls the only script of the page."""
    return _hash(_script())


def embed(content: Any) -> str:
    r"""JSON that can stand inside of a page: no letter in it ends or begins a tag.

    Example:
        >>> embed({"name": "</script>"})
        '{"name": "\\u003c/script\\u003e"}'
    """
    # Whatever is not ASCII is escaped by json, among it U+2028 and U+2029.
    text = json.dumps(content, ensure_ascii=True, allow_nan=False)
    return re.sub("[<>&]", lambda found: _ESCAPES[found[0]], text)


def _script() -> str:
    # In a function, so that nothing but window.unbraidExplorer is seen from outside.
    body = _read("network.js") + "\n" + _read("explorer.js")
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def _read(name: str) -> str:
    asset = resources.files("unbraid.reports.explorer") / "assets" / name
    return asset.read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a Content-Security-Policy calls this text, and no other."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
