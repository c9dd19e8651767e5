"""Classes of the compiler: Inductor's IR, scheduler, dependencies and handlers, Dynamo's variable trackers and guards."""

from __future__ import annotations

import ast
import re
from typing import Any

from .source import SourceFile, docstring, dotted, mentioning, python_files, read, signature, walk

INDUCTOR = {
    "ir": "torch/_inductor/ir.py",
    "scheduler": "torch/_inductor/scheduler.py",
    "dependencies": "torch/_inductor/dependencies.py",
    "loop_body": "torch/_inductor/loop_body.py",
    "virtualized": "torch/_inductor/virtualized.py",
    "ops_handler": "torch/_inductor/ops_handler.py",
    "graph": "torch/_inductor/graph.py",
    "sizevars": "torch/_inductor/sizevars.py",
    "memory": "torch/_inductor/memory.py",
}
HANDLER = "torch/_inductor/ops_handler.py"
VIRTUALIZED = "torch/_inductor/virtualized.py"
GUARDS = "torch/_dynamo/guards.py"
VARIABLES = "torch/_dynamo/variables"
# a line that may create an object or test for its class
_USE = re.compile(r"\b_?[A-Z]\w*(?:\.create)?\(|\bisinstance\(")
MAX_USES = 6
MAX_FIELDS = 24


def inductor_classes(root: str) -> dict[str, dict[str, Any]]:
    """Classes of Inductor by name, with the functions that create them and those that test for them."""
    found: dict[str, dict[str, Any]] = {}
    for module, path in INDUCTOR.items():
        source = read(root, path)
        if source is not None:
            for node in source.tree.body:
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, _class(source, node, module))
    _add_subclasses(found)
    _add_uses(root, found)
    return found


def variable_trackers(root: str) -> dict[str, dict[str, Any]]:
    """Classes in ``torch/_dynamo/variables``, and those of sources and side effects."""
    found: dict[str, dict[str, Any]] = {}
    for path in [*python_files(root, VARIABLES), "torch/_dynamo/source.py", "torch/_dynamo/side_effects.py"]:
        source = read(root, path)
        if source is None:
            continue
        module = path.rpartition("/")[2].removesuffix(".py")
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, _class(source, node, module, most=700))
    _add_subclasses(found)
    return found


def guards(root: str) -> dict[str, dict[str, Any]]:
    """Methods of ``GuardBuilder`` by name (``TENSOR_MATCH``), and the documented classes in the same module."""
    source = read(root, GUARDS)
    found: dict[str, dict[str, Any]] = {}
    for node in source.tree.body if source is not None else []:
        if source is None or not isinstance(node, ast.ClassDef):
            continue
        if docstring(node):
            found[node.name] = _class(source, node, "guards")
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name.isupper():
                entry = {
                    "what": "guard",
                    "signature": signature(method),
                    "doc": docstring(method) or source.comment(_first_line(method)) or _leading_comment(source, method),
                    "at": source.at(method.lineno),
                }
                found[method.name] = {key: value for key, value in entry.items() if value}
    return found


def handler_operations(root: str) -> dict[str, dict[str, Any]]:
    """Operations of ``ops.*``: methods of ``OpsHandler`` (``ops.load``)."""
    source = read(root, HANDLER)
    found: dict[str, dict[str, Any]] = {}
    for node in source.tree.body if source is not None else []:
        if source is None or not isinstance(node, ast.ClassDef) or node.name != "OpsHandler":
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("__"):
                entry = {
                    "signature": signature(method),
                    "doc": docstring(method) or source.comment(_first_line(method)),
                    "at": source.at(method.lineno),
                }
                found[method.name] = {key: value for key, value in entry.items() if value}
    return found


def virtualized_names(root: str) -> dict[str, dict[str, Any]]:
    """Attributes of ``V``: ``V.graph``, ``V.kernel``, …"""
    source = read(root, VIRTUALIZED)
    found: dict[str, dict[str, Any]] = {}
    for node in source.tree.body if source is not None else []:
        if source is None or not isinstance(node, ast.ClassDef) or node.name != "_V":
            continue
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                found[member.name] = {
                    "signature": signature(member),
                    "doc": docstring(member),
                    "at": source.at(member.lineno),
                }
            elif isinstance(member, (ast.Assign, ast.AnnAssign)):
                target = member.targets[0] if isinstance(member, ast.Assign) else member.target
                if isinstance(target, ast.Name) and not target.id.startswith("_"):
                    found[target.id] = {"doc": source.comment(member.lineno), "at": source.at(member.lineno)}
    return {name: {key: value for key, value in entry.items() if value} for name, entry in found.items()}


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _leading_comment(source: SourceFile, node: ast.FunctionDef) -> str:
    """Comment lines at the start of the body."""
    lines: list[str] = []
    for number in range(node.lineno, node.body[0].lineno - 1):
        text = source.lines[number].strip()
        if text.startswith("#"):
            lines.append(text.lstrip("# "))
    return "\n".join(lines)


def _class(source: SourceFile, node: ast.ClassDef, module: str, most: int = 1200) -> dict[str, Any]:
    fields: list[str] = []
    for member in node.body:
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
            fields.append(f"{member.target.id}: {ast.unparse(member.annotation)}")
        elif isinstance(member, ast.Assign) and isinstance(member.targets[0], ast.Name):
            if member.targets[0].id.startswith("__") or isinstance(member.value, ast.Name):
                continue  # an alias of a method
            fields.append(f"{member.targets[0].id} = {source.segment(member.value, 40)}")
    methods = [
        member.name for member in node.body if isinstance(member, ast.FunctionDef) and not member.name.startswith("_")
    ]
    entry: dict[str, Any] = {
        "module": module,
        "bases": [dotted(base) or ast.unparse(base) for base in node.bases],
        "doc": docstring(node, most) or source.comment(_first_line(node)),
        "fields": fields[:MAX_FIELDS],
        "methods": methods[:MAX_FIELDS],
        "at": source.at(node.lineno),
    }
    return {key: value for key, value in entry.items() if value}


def _add_subclasses(found: dict[str, dict[str, Any]]) -> None:
    for name, entry in found.items():
        for base in entry.get("bases", ()):
            short = re.split(r"[.\[]", base)
            parent = next((found[part] for part in reversed(short) if part in found), None)
            if parent is not None and parent is not entry:
                parent.setdefault("subclasses", []).append(name)


def _add_uses(root: str, found: dict[str, dict[str, Any]]) -> None:
    """Functions that create a class (``Pointwise(…)``, ``Pointwise.create(…)``) or test for it (``isinstance``)."""
    # serialized patterns are thousands of generated lines, without any use of these classes
    paths = (path for path in python_files(root, "torch/_inductor") if "serialized_patterns" not in path)
    for source in mentioning(root, paths, _USE):
        lines = source.lines_with(_USE)
        for function, owner in _functions(source.tree):
            for node in walk(function, lines):
                if isinstance(node, ast.Call):
                    _add_use(found, node, f"{owner}{function.name}", source.at(function.lineno))


def _functions(tree: ast.Module) -> list[tuple[ast.FunctionDef, str]]:
    """Functions of a module and methods of its classes; nested functions count as part of the outer one."""
    found: list[tuple[ast.FunctionDef, str]] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append((node, ""))
        elif isinstance(node, ast.ClassDef):
            found += [(member, f"{node.name}.") for member in node.body if isinstance(member, ast.FunctionDef)]
    return found


def _add_use(found: dict[str, dict[str, Any]], node: ast.Call, function: str, place: str) -> None:
    called = dotted(node.func).split(".")
    if called[-1] == "isinstance" and len(node.args) == 2:
        kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        for kind in kinds:
            _append(found, dotted(kind).rpartition(".")[2], "asked_in", function, place)
        return
    name = called[-2] if called[-1] == "create" and len(called) > 1 else called[-1]
    _append(found, name, "made_in", function, place)


def _append(found: dict[str, dict[str, Any]], name: str, key: str, function: str, place: str) -> None:
    entry = found.get(name)
    if entry is None or function.startswith(f"{name}."):
        return
    uses = entry.setdefault(key, [])
    use = [function, place]
    if len(uses) < MAX_USES and use not in uses:
        uses.append(use)
