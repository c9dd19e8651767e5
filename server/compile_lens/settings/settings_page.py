"""Generates docs/settings.md: ``python -m compile_lens.settings.settings_page > docs/settings.md``."""

from __future__ import annotations

import json
from typing import Any

from compile_lens.settings.groups import grouped

HEAD = """\
# Settings

The same object works in every editor: in VS Code's settings, in `initializationOptions` (without the prefix, nested), and as the answer to
`workspace/configuration` for the section `compileLens`. An invalid value is reported once, and its default is used.

"""
TABLE = """\
## {title}

| setting | type | default | |
|---|---|---|---|
"""
TAIL = """
Settings of scope *machine* apply only in the settings of the user or the machine: a workspace cannot choose what runs.

In Neovim:

```lua
vim.lsp.config('compile_lens', { init_options = { run = { depth = 'inductor', timeout = 120 } } })
```
"""


def page() -> str:
    """The whole page as Markdown."""
    groups = ("".join([TABLE.format(title=group["title"]), *_rows(group["properties"])]) for group in grouped())
    return HEAD + "\n".join(groups) + TAIL


def _rows(properties: dict[str, Any]) -> list[str]:
    return [_row(name, schema) for name, schema in properties.items()]


def _row(name: str, schema: dict[str, Any]) -> str:
    kind = " \\| ".join(f"`{value}`" for value in schema["enum"]) if "enum" in schema else str(schema["type"])
    scope = " *Scope: machine.*" if schema["scope"].startswith("machine") else ""
    return f"| `{name}` | {kind} | `{json.dumps(schema['default'])}` | {schema['markdownDescription']}{scope} |\n"


if __name__ == "__main__":
    print(page(), end="")
