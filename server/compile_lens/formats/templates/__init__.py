"""Templates of HTML documents. Whatever comes from a program is escaped; a page loads nothing and runs nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

CODE = re.compile(r"`([^`]+)`")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = PackageLoader("compile_lens.formats", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["spans"] = _spans
    return environment


def _spans(text: str) -> Markup:
    """``text`` with what is between backticks as code."""
    parts = CODE.split(text)
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts))


def page(name: str, **values: Any) -> str:
    """The document that the template ``name`` makes of ``values``."""
    return _environment().get_template(f"{name}.html.jinja").render(**values)
