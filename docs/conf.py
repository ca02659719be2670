"""Sphinx settings: Markdown pages, docstrings in numpydoc form, warnings are errors in CI."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import generated

generated.write()

project = "recrawl"
author = "the recrawl developers"
project_copyright = author
extensions = [
    "formulas",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "recrawl"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["recrawl.css"]
exclude_patterns = ["_build"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
