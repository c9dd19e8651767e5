"""What torch records: records and artifacts of the structured trace, files of the debug directory, subsystems of the bisector."""

from __future__ import annotations

import ast
import re
from typing import Any

from .source import SourceFile, dotted, mentioning, python_files, read, string, walk

_TRACE_CALL = re.compile(r"trace_structured(?:_artifact)?\Z")
_TRACES = re.compile("trace_structured")
_DEBUG = "torch/_inductor/debug.py"
_BISECTOR = "torch/_inductor/compiler_bisector.py"
_FILE_CALLS = ("fopen", "filename", "copy", "save", "_write_ir", "fopen_context")
MAX_PLACES = 3


def trace_artifacts(root: str) -> dict[str, dict[str, Any]]:
    """Records and artifacts of ``TORCH_TRACE`` by name, with the functions that write them."""
    found: dict[str, dict[str, Any]] = {}
    paths = (
        path
        for path in python_files(root, "torch")
        if path.startswith("torch/_") or "/fx/" in path or "/distributed/" in path
    )
    for source in mentioning(root, paths, _TRACES):
        lines = source.lines_with(_TRACES)
        functions = [node for node in walk(source.tree, lines) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            for node in walk(function, lines):
                if isinstance(node, ast.Call) and _TRACE_CALL.search(dotted(node.func)):
                    _add_record(found, node, source, function.name)
    return dict(sorted(found.items()))


def _add_record(found: dict[str, dict[str, Any]], node: ast.Call, source: SourceFile, function: str) -> None:
    first = node.args[0] if node.args else next((word.value for word in node.keywords if word.arg == "name"), None)
    if isinstance(first, ast.IfExp):
        for branch in (first.body, first.orelse):
            _add_named(found, string(branch), node, source, function)
        return
    _add_named(found, string(first), node, source, function)


def _add_named(
    found: dict[str, dict[str, Any]], name: str | None, node: ast.Call, source: SourceFile, function: str
) -> None:
    words = {word.arg: word.value for word in node.keywords}
    if name is None:
        return
    short = dotted(node.func).rpartition(".")[2]
    what, encoding = (
        ("artifact", string(node.args[1]) if len(node.args) > 1 else None)
        if short.endswith("artifact")
        else ("record", None)
    )
    if what == "record" and name == "artifact":
        metadata = _metadata(words.get("metadata_fn") or (node.args[1] if len(node.args) > 1 else None))
        name, encoding, what = metadata.get("name") or "", metadata.get("encoding"), "artifact"
        if not name or "." in name:
            return
    entry = found.setdefault(name, {"what": what, "at": source.at(node.lineno), "written_in": []})
    if encoding:
        entry["encoding"] = encoding
    writer = [function, source.at(node.lineno)]
    if len(entry["written_in"]) < MAX_PLACES and writer not in entry["written_in"]:
        entry["written_in"].append(writer)


def _metadata(node: ast.AST | None) -> dict[str, str]:
    """The literal entries of ``lambda: {"name": "…", "encoding": "…"}``."""
    found: dict[str, str] = {}
    for part in walk(node) if node is not None else ():
        if isinstance(part, ast.Dict):
            for key, value in zip(part.keys, part.values, strict=True):
                name, text = string(key), string(value)
                if name is not None and text is not None:
                    found.setdefault(name, text)
    return found


def debug_files(root: str) -> dict[str, dict[str, Any]]:
    """Files with fixed names that Inductor writes to the directory of ``TORCH_COMPILE_DEBUG``."""
    source = read(root, _DEBUG)
    found: dict[str, dict[str, Any]] = {}
    for function in walk(source.tree) if source is not None else ():
        if source is None or not isinstance(function, ast.FunctionDef):
            continue
        for node in walk(function):
            if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _FILE_CALLS:
                for argument in node.args[:1]:
                    name = string(argument)
                    if name is not None and re.match(r"[\w.]+\.(?:py|txt|svg|json|log|dot)\Z", name):
                        found.setdefault(
                            name,
                            {"at": source.at(node.lineno), "written_in": [[function.name, source.at(function.lineno)]]},
                        )
    return found


def bisect_names(root: str) -> dict[str, dict[str, Any]]:
    """Backends of the compiler bisector in order, and subsystems (``inductor/lowerings``), each with its comment."""
    source = read(root, _BISECTOR)
    found: dict[str, dict[str, Any]] = {}
    for node in source.tree.body if source is not None else []:
        target = (
            node.targets[0]
            if isinstance(node, ast.Assign)
            else node.target
            if isinstance(node, ast.AnnAssign)
            else None
        )
        if source is None or target is None or dotted(target) != "BACKENDS":
            continue
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if not isinstance(value, ast.Dict):
            continue
        for order, (key, listed) in enumerate(zip(value.keys, value.values, strict=True), 1):
            backend = string(key)
            if backend is None or key is None or not isinstance(listed, ast.List):
                continue
            subsystems = [name for call in listed.elts if (name := _subsystem(call)) is not None]
            found[backend] = {
                "what": "backend",
                "order": order,
                "subsystems": subsystems,
                "doc": source.comment(key.lineno),
                "at": source.at(key.lineno),
            }
            for call in listed.elts:
                name = _subsystem(call)
                if name is not None and isinstance(call, ast.Call):
                    found[f"{backend}/{name}"] = {
                        "what": dotted(call.func),
                        "doc": source.comment(call.lineno, call.end_lineno) or _inner_comment(source, call),
                        "at": source.at(call.lineno),
                    }
    return {name: {key: value for key, value in entry.items() if value} for name, entry in found.items()}


def _subsystem(node: ast.expr) -> str | None:
    """The name of ``BisectSubsystem("lowerings")``; a ``ConfigChange`` is named after its option."""
    if not isinstance(node, ast.Call) or not node.args:
        return None
    return string(node.args[1] if dotted(node.func) == "ConfigChange" and len(node.args) > 1 else node.args[0])


def _inner_comment(source: SourceFile, call: ast.Call) -> str:
    lines = source.lines[call.lineno - 1 : (call.end_lineno or call.lineno)]
    return " ".join(line.partition("#")[2].strip() for line in lines if "#" in line)
