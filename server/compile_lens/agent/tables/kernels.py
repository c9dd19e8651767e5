"""Names used in kernels: ``tl.*`` and ``triton.*`` of the installed triton, and Inductor's helpers."""

from __future__ import annotations

import ast
import os
from typing import Any

from .source import docstring, dotted, read, signature, string, walk

LANGUAGE = "triton/language"
HELPERS = "torch/_inductor/runtime/triton_helpers.py"
_TRITON = {
    "triton.jit": ("triton/runtime/jit.py", "jit"),
    "triton.JITFunction": ("triton/runtime/jit.py", "JITFunction"),
    "triton.autotune": ("triton/runtime/autotuner.py", "autotune"),
    "triton.heuristics": ("triton/runtime/autotuner.py", "heuristics"),
    "triton.Config": ("triton/runtime/autotuner.py", "Config"),
    "triton.Autotuner": ("triton/runtime/autotuner.py", "Autotuner"),
    "triton.cdiv": ("triton/__init__.py", "cdiv"),
    "triton.next_power_of_2": ("triton/__init__.py", "next_power_of_2"),
    "triton.testing.do_bench": ("triton/testing.py", "do_bench"),
}
_TEMPLATED = {
    "_add_reduction_docstr": "the reduction along an axis",
    "_add_scan_docstr": "the scan along an axis",
    "_add_atomic_docstr": "an atomic operation on memory",
    "_add_math_1arg_docstr": "elementwise",
    "_add_math_2arg_docstr": "elementwise",
    "_add_math_3arg_docstr": "elementwise",
}


def triton_names(root: str) -> dict[str, dict[str, Any]]:
    """Names such as ``tl.load``, ``triton.jit`` and ``triton_helpers.*``; those of a missing package are left out."""
    found: dict[str, dict[str, Any]] = {}
    folder = os.path.join(root, LANGUAGE)
    for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if file.endswith(".py") and file != "__init__.py":
            module = file.removesuffix(".py")
            prefix = f"tl.{module}." if module in ("random_", "target_info") else "tl."
            _add_file(root, f"{LANGUAGE}/{file}", prefix, found, _exported(root))
    for name, (path, short) in _TRITON.items():
        source = read(root, path)
        for node in walk(source.tree) if source is not None else ():
            if source is not None and isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == short:
                entry = _entry(source.at(node.lineno), node)
                if name not in found or len(entry.get("doc", "")) > len(found[name].get("doc", "")):
                    found[name] = entry
    if read(root, "triton/runtime/jit.py") is not None and "triton.cdiv" not in found and "tl.cdiv" in found:
        found["triton.cdiv"] = found["tl.cdiv"]
    _add_file(root, HELPERS, "triton_helpers.", found, None)
    return found


def _exported(root: str) -> set[str]:
    source = read(root, f"{LANGUAGE}/__init__.py")
    names: set[str] = set()
    for node in source.tree.body if source is not None else []:
        if isinstance(node, ast.Assign) and dotted(node.targets[0]) == "__all__" and isinstance(node.value, ast.List):
            names |= {text for element in node.value.elts if (text := string(element)) is not None}
    return names


def _add_file(root: str, path: str, prefix: str, found: dict[str, dict[str, Any]], exported: set[str] | None) -> None:
    source = read(root, path)
    for node in source.tree.body if source is not None else []:
        if source is None:
            return
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            if exported is not None and node.name not in exported:
                continue
            found.setdefault(prefix + node.name, _entry(source.at(node.lineno), node))
        elif isinstance(node, ast.Assign) and exported is not None:
            name = dotted(node.targets[0])
            if name in exported and isinstance(node.value, ast.Call):
                found.setdefault(
                    prefix + name, {"at": source.at(node.lineno), "signature": f" = {source.segment(node.value, 80)}"}
                )


def _entry(place: str, node: ast.FunctionDef | ast.ClassDef) -> dict[str, Any]:
    doc = docstring(node)
    if isinstance(node, ast.ClassDef):
        init = next(
            (member for member in node.body if isinstance(member, ast.FunctionDef) and member.name == "__init__"), None
        )
        init_signature = signature(init) if init is not None else ""
        entry = {
            "what": "class",
            "signature": init_signature,
            "doc": doc or (docstring(init) if init is not None else ""),
            "at": place,
        }
    else:
        entry = {"what": "function", "signature": signature(node), "doc": doc or _templated(node), "at": place}
    return {key: value for key, value in entry.items() if value}


def _templated(node: ast.FunctionDef) -> str:
    """The text that a decorator of ``tl`` builds from its argument: ``@_add_math_1arg_docstr("exponential")``."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args:
            kind = _TEMPLATED.get(dotted(decorator.func).rpartition(".")[2])
            what = string(decorator.args[0])
            if kind is not None and what is not None:
                return f"Computes {what}: {kind}."
    return ""
