"""Options of torch's config modules: names, types, defaults, environment variables and documenting comments."""

from __future__ import annotations

import ast
import importlib
import os
import re
import tempfile
from typing import Any

from ..torch_internals.core import stored_options
from .source import SourceFile, docstring, dotted, read, string, walk

# module → its file
MODULES = {
    "torch._dynamo.config": "torch/_dynamo/config.py",
    "torch._inductor.config": "torch/_inductor/config.py",
    "torch._functorch.config": "torch/_functorch/config.py",
    "torch.compiler.config": "torch/compiler/config.py",
    "torch.fx.experimental._config": "torch/fx/experimental/_config.py",
    "torch._inductor.config_comms": "torch/_inductor/config_comms.py",
    "torch._export.config": "torch/_export/config.py",
    "torch.distributed.config": "torch/distributed/config.py",
}
_ENVIRONMENT = re.compile(
    r"(?:environ\.get|getenv|\w*env\w*)\(\s*['\"]([A-Z][A-Z0-9_]{3,})['\"]|environ\[['\"]([A-Z0-9_]+)['\"]\]"
)
_KEYWORD = re.compile(r"env_name\w*\s*=\s*(?:\[([^\]]*)\]|['\"]([A-Z0-9_]+)['\"])")
MAX_DEFAULT = 200


def options(root: str) -> dict[str, dict[str, Any]]:
    """Options by full name (``torch._inductor.config.triton.cudagraphs``), read from source without importing it."""
    found: dict[str, dict[str, Any]] = {}
    for module, path in MODULES.items():
        source = read(root, path)
        if source is not None:
            functions = {node.name: node for node in source.tree.body if isinstance(node, ast.FunctionDef)}
            _visit(source, source.tree.body, f"{module}.", functions, found)
    return found


def _visit(
    source: SourceFile,
    body: list[ast.stmt],
    prefix: str,
    functions: dict[str, ast.FunctionDef],
    found: dict[str, dict[str, Any]],
) -> None:
    for at, node in enumerate(body):
        if isinstance(node, ast.ClassDef):
            found[prefix + node.name] = {
                "what": "section",
                "doc": docstring(node) or source.comment(node.lineno),
                "at": source.at(node.lineno),
            }
            for base in node.bases:  # `class cuda(cutlass)` inherits options
                inherited = f"{prefix}{dotted(base)}."
                for name in [full for full in found if full.startswith(inherited)]:
                    found[f"{prefix}{node.name}.{name.removeprefix(inherited)}"] = dict(found[name])
            _visit(source, node.body, f"{prefix}{node.name}.", functions, found)
        elif isinstance(node, ast.If):
            _visit(source, [*node.body, *node.orelse], prefix, functions, found)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and not target.id.startswith("__"):
                entry = _option(source, node, node.value, functions)
                following = body[at + 1] if at + 1 < len(body) else None
                if isinstance(following, ast.Expr) and string(following.value):
                    entry["doc"] = "\n".join(
                        part for part in (entry.get("doc", ""), string(following.value) or "") if part
                    )
                found.setdefault(prefix + target.id, entry)


def _option(
    source: SourceFile, node: ast.Assign | ast.AnnAssign, value: ast.expr, functions: dict[str, ast.FunctionDef]
) -> dict[str, Any]:
    text = source.whole(value)
    called = {dotted(part.func) for part in walk(value) if isinstance(part, ast.Call)}
    bodies = [source.whole(functions[name]) for name in sorted(called & functions.keys())]
    entry: dict[str, Any] = {
        "at": source.at(node.lineno),
        "source": source.segment(value),
        "doc": source.comment(node.lineno, node.end_lineno),
        "env": _variables("\n".join([text, *bodies])),
    }
    if isinstance(node, ast.AnnAssign):
        entry["type"] = ast.unparse(node.annotation)
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "Config":
        words = {word.arg: word.value for word in value.keywords}
        for key in ("alias", "deprecation_message", "justknob"):
            value_text = string(words.get(key))
            if value_text is not None:
                entry[key] = value_text
        if "default" in words:
            entry["source"] = source.segment(words["default"])
    return {key: field for key, field in entry.items() if field}


def _variables(text: str) -> list[str]:
    names = [match.group(1) or match.group(2) for match in _ENVIRONMENT.finditer(text)]
    for match in _KEYWORD.finditer(text):
        names += re.findall(r"[A-Z][A-Z0-9_]{3,}", match.group(1) or match.group(2) or "")
    return list(dict.fromkeys(name for name in names if name))


def add_live_values(found: dict[str, dict[str, Any]], root: str) -> None:
    """Correct the options by those of the running torch, with their actual defaults and types."""
    for module_name in MODULES:
        try:
            entries: dict[str, Any] | None = stored_options(importlib.import_module(module_name))
        except ImportError:
            continue
        if entries is None:
            continue
        for name in [full for full in found if full.startswith(module_name + ".")]:
            if name[len(module_name) + 1 :] not in entries and found[name].get("what") != "section":
                del found[name]
        for name, live in entries.items():
            entry = found.setdefault(f"{module_name}.{name}", {"at": MODULES[module_name] + ":1"})
            alias = getattr(live, "alias", None)
            if alias is not None:
                entry["alias"] = alias
                continue
            default = _portable_repr(live.default, root)
            if default is not None:
                entry["default"] = default
            kind = _type_name(live.value_type)
            if kind is not None and "type" not in entry:
                entry["type"] = kind


def _portable_repr(value: object, root: str) -> str | None:
    """``repr`` of a default; None if it depends on this machine, as does a folder of torch (``root``)."""
    if callable(value) and not isinstance(value, type):
        return f"<function {getattr(value, '__qualname__', '?')}>"
    # the order of a set differs from process to process
    text = f"{{{', '.join(sorted(map(repr, value)))}}}" if isinstance(value, set) and value else repr(value)
    machine = (root, os.path.realpath(root), os.path.expanduser("~"), tempfile.gettempdir(), os.getcwd(), " at 0x")
    if len(text) > MAX_DEFAULT or any(part in text for part in machine if part != "/"):
        return None
    return text


def _type_name(kind: Any) -> str | None:
    if kind is None or kind is type(None):
        return None
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")
