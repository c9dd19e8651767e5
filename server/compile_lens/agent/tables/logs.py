"""Values of ``TORCH_LOGS``: components and artifacts (torch/_logging/_registrations.py)."""

from __future__ import annotations

import ast
from typing import Any

from .source import dotted, read, string, walk

REGISTRATIONS = "torch/_logging/_registrations.py"


def log_names(root: str) -> dict[str, dict[str, Any]]:
    """Components with the modules whose loggers they set, and artifacts with torch's own description."""
    source = read(root, REGISTRATIONS)
    if source is None:
        return {}
    lists = _module_lists(source.tree)
    found: dict[str, dict[str, Any]] = {"all": _special_all(root)}
    for node in walk(source.tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name, function = string(node.args[0]), dotted(node.func)
        if name is None:
            continue
        if function == "register_log":
            modules = _strings(node.args[1], lists) if len(node.args) > 1 else []
            found[name] = {"what": "component", "modules": modules, "at": source.at(node.lineno)}
        elif function == "register_artifact":
            flags = {word.arg: _is_true(word.value) for word in node.keywords}
            description = node.args[1] if len(node.args) > 1 else None
            found[name] = {
                "what": "artifact",
                "doc": " ".join((string(description) or "").split()),
                "visible": flags.get("visible", False),
                "off_by_default": flags.get("off_by_default", False),
                "format": any(word.arg == "log_format" for word in node.keywords),
                "at": source.at(node.lineno),
            }
    return {
        name: {key: value for key, value in entry.items() if value not in ("", [])} for name, entry in found.items()
    }


def _special_all(root: str) -> dict[str, Any]:
    """``all`` is not registered: ``_parse_log_settings`` handles it by name."""
    source = read(root, "torch/_logging/_internal.py")
    place = REGISTRATIONS + ":1"
    if source is not None:
        for number, line in enumerate(source.lines, 1):
            if '"all"' in line and "name" in line:
                place = source.at(number)
                break
    return {"what": "component", "doc": "Sets the level of every component at once.", "at": place}


def _module_lists(tree: ast.Module) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            lists[node.targets[0].id] = _strings(node.value, lists)
    return lists


def _strings(node: ast.AST, lists: dict[str, list[str]]) -> list[str]:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [text for element in node.elts for text in _strings(element, lists)]
    if isinstance(node, ast.Starred):
        return _strings(node.value, lists)
    if isinstance(node, ast.Name):
        return lists.get(node.id, [])
    text = string(node)
    return [text] if text is not None else []


def _is_true(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
