"""Calls that give another value each time, such as random numbers and times: what is traced or called once would keep the first one."""

from __future__ import annotations

from compile_lens.syntax.definitions import Definition, definitions
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Query, SourceTree

_CALLS = Query("(call) @call")
# parts of dotted names: modules, and what their generators are usually called
_SOURCES = frozenset({"random", "secrets", "uuid", "time", "datetime", "rng", "now", "urandom"})
_BUILTINS = frozenset({"next", "input"})
# of torch and of NumPy: randn, randint, randperm …
_DRAWN = "rand"


def fresh_values(tree: SourceTree, function: Definition) -> frozenset[str]:
    """The full names of such calls in ``function``, and in the functions of the file that it calls by their names."""
    by_name = {each.qualified_name: each for each in definitions(tree) if each.kind == "function"}
    calls = [
        (tree.position(node.start_byte)[0], tree.node_text(called))
        for node in _CALLS.everywhere(tree).get("call", [])
        if (called := node.child_by_field_name("function")) is not None
    ]
    imports = read_imports(tree)
    found: set[str] = set()
    seen, waiting = {function.qualified_name}, [function]
    while waiting:
        current = waiting.pop()
        for line, name in calls:
            if not current.first_line <= line <= current.last_line:
                continue
            full = imports.resolve(name) or name
            if _is_fresh(full):
                found.add(full)
            if name in by_name and name not in seen:
                seen.add(name)
                waiting.append(by_name[name])
    return frozenset(found)


def _is_fresh(full: str) -> bool:
    parts = full.split(".")
    return full in _BUILTINS or not _SOURCES.isdisjoint(parts) or parts[-1].startswith(_DRAWN)
