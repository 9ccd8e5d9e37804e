"""Assembling the explorer page from its template, style and scripts."""

import base64
import hashlib
import json
import re
from importlib import resources
from typing import Any

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def fill_page(content: dict[str, Any]) -> str:
    """Return the explorer page as HTML, with style, scripts and content.

    Args:
        content: JSON-compatible values that the script of the page reads.
    """
    style = _read("explorer.css")
    parts = {
        "style": style,
        "script": _script(),
        "style_hash": _hash(style),
        "script_hash": script_hash(),
        "data": embed(content),
    }
    # In one pass, so that inserted text is not expanded again.
    template = _read("explorer.html")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def script_hash() -> str:
    """Return the hash of the script for the Content-Security-Policy."""
    return _hash(_script())


def embed(content: Any) -> str:
    r"""Return JSON that can be inserted into a page, without characters of tags.

    Example:
        >>> embed({"name": "</script>"})
        '{"name": "\\u003c/script\\u003e"}'
    """
    # ensure_ascii also escapes U+2028 and U+2029.
    text = json.dumps(content, ensure_ascii=True, allow_nan=False)
    return re.sub("[<>&]", lambda match: _ESCAPES[match[0]], text)


def _script() -> str:
    # In a function, so that only window.unbraidExplorer is global.
    body = _read("network.js") + "\n" + _read("explorer.js")
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def _read(name: str) -> str:
    asset = resources.files("unbraid.reports.explorer") / "assets" / name
    return asset.read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of a text for the Content-Security-Policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
