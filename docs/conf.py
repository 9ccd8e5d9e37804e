"""How sphinx builds the site: offline, from the pages here and from the docstrings."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import stringify_annotation
from sphinx.writers.html5 import HTML5Translator

project = "unbraid"
author = "The unbraid authors"
copyright = author  # sphinx wants this name
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "unbraid"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "monokai"

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True}
napoleon_attr_annotations = False
napoleon_use_ivar = True
napoleon_use_rtype = False
python_maximum_signature_line_length = 88

_log = logging.getLogger(__name__)

_ARRAY_LIKE = stringify_annotation(ArrayLike, "smart")
_ARRAY = re.compile(r"~numpy\.ndarray\[tuple\[.*?, \.\.\.\], ~numpy\.dtype\[(.*?)\]\]")


def mathml(tex: str, *, as_block: bool) -> str:
    """A formula as browsers draw it by themselves, without scripts or a network."""
    if "&" in tex and r"\begin" not in tex:
        tex = rf"\begin{{aligned}} {tex} \end{{aligned}}"
    try:
        return tex2mathml(tex, as_block=as_block)
    except MathError as error:
        _log.warning("formula %r cannot be drawn: %s", tex, error)
        return f"<code>{tex}</code>"


def visit_inline(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula within a line."""
    translator.body.append(mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula in lines of its own."""
    translator.body.append(
        f'<div class="math">{mathml(node.astext(), as_block=True)}</div>'
    )
    raise nodes.SkipNode


def fill_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Adapt pages to the site."""
    del app
    # Readers of the repository go to the file, readers of the site to the page.
    source[0] = source[0].replace("(../benchmarks/README.md)", "(benchmarks.md)")
    if name == "objectives":
        source[0] += "\n\n".join(_objective_sections())


def skip_requests(
    app: Sphinx, what: str, name: str, member: object, skip: bool, options: object
) -> bool | None:
    """Leave out methods that scikit-learn adds to every estimator."""
    del app, what, member, skip, options
    return True if name.startswith("set_") and name.endswith("_request") else None


def shorten_types(
    app: Sphinx,
    what: str,
    name: str,
    member: object,
    options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Write the types of arrays as the source does."""
    del app, what, name, member, options

    def short(text: str | None) -> str | None:
        if text is None:
            return None
        return _ARRAY.sub(r"NDArray[\1]", text.replace(_ARRAY_LIKE, "ArrayLike"))

    return short(signature), short(returned)


def _objective_sections() -> list[str]:
    from unbraid.models.objectives import OBJECTIVES

    return [
        f"\n{name}\n{'-' * len(name)}\n\n"
        f".. autoclass:: unbraid.models.objectives.{kind.__name__}\n"
        "   :no-index:\n   :no-members:\n"
        for name, kind in OBJECTIVES.built_in.items()
    ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell sphinx of the above."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("source-read", fill_pages)
    app.connect("autodoc-skip-member", skip_requests)
    app.connect("autodoc-process-signature", shorten_types)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
