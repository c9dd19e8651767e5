"""Graph break codes (torch/_dynamo/graph_break_registry.json) and where each is raised."""

from __future__ import annotations

import ast
import json
import os
import re
from typing import Any

from .source import dotted, mentioning, python_files, string, walk

REGISTRY = "torch/_dynamo/graph_break_registry.json"
_TYPE = re.compile("gb_type")
MAX_PLACES = 4


def break_codes(root: str) -> dict[str, dict[str, Any]]:
    """``GB0000`` and on: type, context, explanation and hints of the code's newest form, and where it is raised."""
    try:
        with open(os.path.join(root, REGISTRY), encoding="utf-8") as file:
            registry: dict[str, list[dict[str, Any]]] = json.load(file)
    except (OSError, ValueError):
        return {}
    places = _places_by_type(root)
    found: dict[str, dict[str, Any]] = {}
    with open(os.path.join(root, REGISTRY), encoding="utf-8") as file:
        lines = {
            line.strip().partition('"')[2].partition('"')[0]: at
            for at, line in enumerate(file, 1)
            if '": [' in line and '"GB' in line
        }
    for code, forms in registry.items():
        form = forms[0]
        found[code] = {
            "type": form.get("Gb_type", ""),
            "context": form.get("Context", ""),
            "explanation": form.get("Explanation", ""),
            "hints": [hint.strip() for hint in form.get("Hints") or []],
            "at": f"{REGISTRY}:{lines.get(code, 1)}",
            "raised_at": places.get(form.get("Gb_type", ""), [])[:MAX_PLACES],
        }
    return found


def _places_by_type(root: str) -> dict[str, list[str]]:
    """Locations of calls such as ``unimplemented(gb_type=…)``, by type."""
    places: dict[str, list[str]] = {}
    for source in mentioning(root, python_files(root, "torch/_dynamo"), _TYPE):
        for node in walk(source.tree, source.lines_with(_TYPE)):
            if isinstance(node, ast.Call) and dotted(node.func):
                for word in node.keywords:
                    kind = string(word.value) if word.arg == "gb_type" else None
                    if kind is not None:
                        places.setdefault(kind, []).append(source.at(node.lineno))
    return places
