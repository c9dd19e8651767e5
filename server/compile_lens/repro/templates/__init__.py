"""Renders the templates of repro scripts, which are in this folder."""

from __future__ import annotations

import textwrap
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, /, **values: object) -> str:
    """The text of ``TEMPLATE.py.jinja`` without the newline at its end."""
    return _environment().get_template(f"{template}.py.jinja").render(values).removesuffix("\n")


@cache
def _environment() -> Environment:
    # only writing a repro needs it
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("compile_lens.repro"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["indented"] = lambda text: textwrap.indent(text, "    ")
    return environment
