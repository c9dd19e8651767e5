"""A page for each setting, from its declaration."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from compile_lens.cli.project_options import KEYS
from compile_lens.settings.settings import SECTION, configuration_schema
from reference_pages.index_page import index_page

INTRODUCTION = "One page for each setting. [Settings](../../settings.md) has all of them in one table."


def pages() -> dict[str, str]:
    """Path → Markdown."""
    schemas = configuration_schema()["properties"]
    found = {f"settings/{name.removeprefix(f'{SECTION}.')}.md": _page(name, schemas[name]) for name in schemas}
    names = sorted(path.removeprefix("settings/").removesuffix(".md") for path in found)
    found["settings/index.md"] = index_page("Each setting", INTRODUCTION, names)
    return found


def _page(name: str, schema: dict[str, Any]) -> str:
    return "\n".join(_lines(name, schema)) + "\n"


def _lines(name: str, schema: dict[str, Any]) -> Iterator[str]:
    path = name.split(".")[1:]
    yield f"# {'.'.join(path)}\n"
    yield f"{schema['markdownDescription']}\n"
    if "enum" in schema:
        yield "| value | |\n|---|---|"
        yield from (
            f"| `{value}` | {text} |"
            for value, text in zip(schema["enum"], schema["markdownEnumDescriptions"], strict=True)
        )
        yield ""
    else:
        least = f", at least {schema['minimum']}" if "minimum" in schema else ""
        yield f"Type: {schema['type']}{least}.\n"
    if schema["scope"].startswith("machine"):
        yield "It applies only in the settings of the user or the machine, so that a workspace cannot choose it.\n"
    example = next((value for value in schema.get("enum", ()) if value != schema["default"]), schema["default"])
    yield "In VS Code (`settings.json`):\n"
    yield f"```json\n{json.dumps({name: example}, indent=2)}\n```\n"
    nested: Any = example
    for part in reversed(path):
        nested = {part: nested}
    yield "In other editors (`initializationOptions`):\n"
    yield f"```json\n{json.dumps(nested, indent=2)}\n```\n"
    key = _kebab(path[-1])
    if key in KEYS:
        yield f"In a terminal: `--{key}`, or `{key}` in `[tool.compile-lens]` of `pyproject.toml` ([in the terminal](../../terminal.md)).\n"


def _kebab(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
