"""Reads the arguments of ``torch.compile``, its modes and the registered backends from source."""

from __future__ import annotations

import ast
import re
from typing import Any

from .source import SourceFile, cleaned, docstring, dotted, python_files, read, string, walk

TORCH = "torch/__init__.py"
INDUCTOR = "torch/_inductor/__init__.py"
BACKENDS = "torch/_dynamo/backends"
_ARGUMENT = re.compile(r"^ {0,8}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


def compile_arguments(root: str) -> dict[str, dict[str, Any]]:
    """Arguments of ``torch.compile`` by name: type, default, and their section of the docstring."""
    source, function = _compile(root)
    if source is None or function is None:
        return {}
    documentation = documented(ast.get_docstring(function) or "")
    found: dict[str, dict[str, Any]] = {}
    arguments = [*function.args.args, *function.args.kwonlyargs]
    defaults = [
        *([None] * (len(function.args.args) - len(function.args.defaults))),
        *function.args.defaults,
        *function.args.kw_defaults,
    ]
    for argument, default in zip(arguments, defaults, strict=True):
        entry = {
            "type": ast.unparse(argument.annotation) if argument.annotation is not None else "",
            "default": ast.unparse(default) if default is not None else "",
            "doc": documentation.get(argument.arg, ""),
            "at": source.at(argument.lineno),
        }
        found[argument.arg] = {key: value for key, value in entry.items() if value}
    return found


def _compile(root: str) -> tuple[SourceFile | None, ast.FunctionDef | None]:
    source = read(root, TORCH)
    functions = (
        [node for node in source.tree.body if isinstance(node, ast.FunctionDef) and node.name == "compile"]
        if source
        else []
    )
    return source, functions[-1] if functions else None


def documented(doc: str) -> dict[str, str]:
    """The entries of ``Args:``, which are indented once (by 2 to 4 columns)."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    lines = doc.split("\n")
    for line in lines[argument_lines(lines)]:
        match = _ARGUMENT.match(line)
        if match is not None and len(line) - len(line.lstrip()) <= 4:
            current = found.setdefault(match.group(1), [match.group(2)])
        elif current is not None:
            current.append(line.strip())
    return {name: cleaned("\n".join(lines_of), 3000) for name, lines_of in found.items()}


def argument_lines(lines: list[str]) -> slice:
    """The lines below ``Args:`` in a docstring, up to the next line without indentation."""
    start = next((at + 1 for at, line in enumerate(lines) if line.strip() in ("Args:", "Arguments:")), len(lines))
    end = next((at for at in range(start, len(lines)) if lines[at] and not lines[at].startswith(" ")), len(lines))
    return slice(start, end)


def modes(root: str) -> dict[str, dict[str, Any]]:
    """Values of ``mode``: the options that each sets (``torch._inductor.list_mode_options``), and its sentence in the docstring."""
    source = read(root, INDUCTOR)
    _, compile_function = _compile(root)
    documentation = (
        documented(ast.get_docstring(compile_function) or "").get("mode", "") if compile_function is not None else ""
    )
    found: dict[str, dict[str, Any]] = {}
    for node in walk(source.tree) if source is not None else ():
        if source is None or not isinstance(node, ast.FunctionDef) or node.name != "list_mode_options":
            continue
        tables = [part for part in walk(node) if isinstance(part, ast.Dict)]
        for key, value in zip(tables[0].keys, tables[0].values, strict=True) if tables else ():
            name = string(key)
            if name is not None and key is not None:
                options = _literal_entries(value)
                found[name] = {"options": options, "doc": _sentence(documentation, name), "at": source.at(key.lineno)}
    return found


def _literal_entries(node: ast.AST) -> dict[str, str]:
    if not isinstance(node, ast.Dict):
        return {}
    return {
        name: ast.unparse(value)
        for key, value in zip(node.keys, node.values, strict=True)
        if (name := string(key)) is not None
    }


def _sentence(text: str, name: str) -> str:
    """The list item that starts with ``- "name"``."""
    match = re.search(rf'^- "{re.escape(name)}" (.*?)(?=^- |\Z)', text, re.MULTILINE | re.DOTALL)
    return " ".join(match.group(1).split()) if match is not None else ""


def backends(root: str) -> dict[str, dict[str, Any]]:
    """Values of ``backend`` that torch itself registers, with their tags (``debug``, ``experimental``)."""
    found: dict[str, dict[str, Any]] = {}
    for path in python_files(root, BACKENDS):
        source = read(root, path)
        if source is None:
            continue
        definitions = {node.name: node for node in walk(source.tree) if isinstance(node, ast.FunctionDef)}
        for node in definitions.values():
            for decorator in node.decorator_list:
                name, tags = _registration(decorator)
                if tags is not None:
                    found[name or node.name] = _backend(source, node, tags, node.lineno)
        for call in walk(source.tree):
            if isinstance(call, ast.Call) and dotted(call.func) == "register_backend":
                words = {word.arg: word.value for word in call.keywords}
                name = string(words.get("name"))
                if name is not None:
                    function = definitions.get(dotted(words.get("compiler_fn", ast.Constant(None))))
                    found.setdefault(name, _backend(source, function, _registration(call)[1] or [], call.lineno))
    return dict(sorted(found.items()))


def _registration(node: ast.expr) -> tuple[str | None, list[str] | None]:
    """The name and tags that a decorator registers; tags are None if it registers no backend."""
    call = node if isinstance(node, ast.Call) else None
    function = dotted(call.func if call is not None else node).rpartition(".")[2]
    if not function.startswith("register_") or not function.endswith("backend"):
        return None, None
    kind = function.removeprefix("register_").removesuffix("backend").strip("_")
    tags = [kind] if kind else []
    name = None
    for word in call.keywords if call is not None else ():
        if word.arg == "name":
            name = string(word.value)
        elif word.arg == "tags" and isinstance(word.value, (ast.List, ast.Tuple)):
            tags += [text for element in word.value.elts if (text := string(element)) is not None]
    return name, tags


def _backend(source: SourceFile, function: ast.FunctionDef | None, tags: list[str], line: int) -> dict[str, Any]:
    doc = docstring(function) or source.comment(function.lineno) if function is not None else source.comment(line)
    entry: dict[str, Any] = {"tags": tags, "doc": doc, "at": source.at(line)}
    return {key: value for key, value in entry.items() if value}
