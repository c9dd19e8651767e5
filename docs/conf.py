"""The documentation site, built by ``make docs`` without a network. Its sources are the pages of the repository as they are; pages
of the reference are made from the product's own tables (``reference_pages``)."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "server")]

from compile_lens import __version__  # noqa: E402
from reference_pages import write_reference  # noqa: E402

project = "Compile Lens"
copyright = "the Compile Lens authors"
version = release = __version__

extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "vscode-client/README.md",
]
exclude_patterns = [
    "docs/reference_pages/**",
    "server",
    "tests",
    "benchmarks",
    "editors",
    "examples",
    "vscode-client/[!R]*",
    "out",
    ".*",
]
# torch's comments and docstrings are quoted as they are
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
myst_heading_anchors = 3
myst_links_external_new_tab = True
nitpicky = True
highlight_language = "text"
# two hyphens are the start of an option
smartquotes = False

html_theme = "furo"
html_title = "Compile Lens"
# the pages stand where their sources do, so that links between them hold in both; the root leads to the first one
html_extra_path = ["site_root"]
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#b5361b", "color-brand-content": "#b5361b"},
    "dark_css_variables": {"color-brand-primary": "#ff8a65", "color-brand-content": "#ff8a65"},
}
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True

write_reference(ROOT / "docs" / "reference")
