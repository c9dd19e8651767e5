"""Groups settings by subject, with those first that most users look for.

``python -m compile_lens.settings.groups | npm --prefix ../vscode-client run settings`` writes them into ``package.json``, and into the
table of the extension's README. docs/settings.md has the same groups.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from compile_lens.settings.settings import configuration_schema

# title → the beginnings of the names; the first group that fits has a setting
GROUPS = {
    "Most used": (
        "compileLens.python",
        "compileLens.run.enabled",
        "compileLens.run.depth",
        "compileLens.run.arguments",
        "compileLens.severity",
    ),
    "Runs": ("compileLens.run.",),
    "Sandbox and limits": ("compileLens.sandbox.", "compileLens.budget.", "compileLens.cache."),
    "Findings and editor": ("compileLens.",),
}


def grouped() -> list[dict[str, Any]]:
    """The settings as ``contributes.configuration`` of a VS Code extension, which may be a list."""
    properties = configuration_schema()["properties"]
    found: list[dict[str, Any]] = []
    for order, (title, beginnings) in enumerate(GROUPS.items()):
        mine = {name: properties.pop(name) for name in list(properties) if name.startswith(beginnings)}
        found.append({"title": title, "order": order, "properties": _ordered(mine, beginnings)})
    return found


def _ordered(properties: dict[str, dict[str, Any]], beginnings: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """In the order of the group, then in that of the schema; VS Code would sort them by name."""
    names = list(properties)
    names.sort(key=lambda name: next(i for i, beginning in enumerate(beginnings) if name.startswith(beginning)))
    return {name: {**properties[name], "order": order} for order, name in enumerate(names)}


if __name__ == "__main__":
    json.dump(grouped(), sys.stdout, indent=2)
    print()
