"""Resolves imported names: ``t.compile`` is ``torch.compile`` after ``import torch as t``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import tree_sitter
from msgspec import Struct, field

from compile_lens.syntax.tree import Query, SourceTree, ancestors

_IMPORTS = Query("[(import_statement) (import_from_statement)] @import")

# names of `from torch import *` that start a compilation (`torch.__all__`, torch/__init__.py)
_TORCH_STAR = ("compile",)


class Imports(Struct, frozen=True):
    """The imports of a file, anywhere in it, except those under ``if TYPE_CHECKING``.

    ``names`` maps a local name to what it stands for, dotted. ``modules`` are the local names that are certainly
    modules (``import a.b`` binds ``a``); what ``from a import b`` binds may be anything.
    """

    names: dict[str, str] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()
    has_torch: bool = False

    def resolve(self, dotted: str) -> str:
        """The full name of a dotted local name, or '' if its first part was not imported."""
        first, dot, rest = dotted.partition(".")
        full = self.names.get(first, "")
        return f"{full}{dot}{rest}" if full else ""

    def is_standard_library(self, name: str) -> bool:
        """Whether a local name was imported from the standard library."""
        return self.names.get(name, "").partition(".")[0] in sys.stdlib_module_names


def read_imports(tree: SourceTree) -> Imports:
    names: dict[str, str] = {}
    modules: set[str] = set()
    captures = _IMPORTS.everywhere(tree)
    for node in sorted(captures.get("import", []), key=lambda found: found.start_byte):
        if _only_for_types(tree, node):
            continue
        if node.type == "import_statement":
            for full, alias in _imported(tree, node):
                local = alias or full.partition(".")[0]
                names[local] = full if alias else local
                modules.add(local)
        else:
            module_node = node.child_by_field_name("module_name")
            module = _dotted(tree, module_node) if module_node is not None else ""
            for full, alias in _imported(tree, node):
                names[alias or full] = f"{module}.{full}"
                modules.discard(alias or full)
            if module == "torch" and any(child.type == "wildcard_import" for child in node.named_children):
                names.update({name: f"torch.{name}" for name in _TORCH_STAR})
    has_torch = any(full == "torch" or full.startswith("torch.") for full in names.values())
    return Imports(names, frozenset(modules), has_torch)


def _imported(tree: SourceTree, node: tree_sitter.Node) -> Iterator[tuple[str, str]]:
    for name in node.children_by_field_name("name"):
        if name.type == "aliased_import":
            original, alias = name.child_by_field_name("name"), name.child_by_field_name("alias")
            if original is not None and alias is not None:
                yield _dotted(tree, original), tree.node_text(alias)
        else:
            yield _dotted(tree, name), ""


def _dotted(tree: SourceTree, node: tree_sitter.Node) -> str:
    return "".join(tree.node_text(node).split())


def _only_for_types(tree: SourceTree, node: tree_sitter.Node) -> bool:
    inner = node
    for ancestor in ancestors(node):
        if ancestor.type == "if_statement" and ancestor.child_by_field_name("consequence") == inner:
            condition = ancestor.child_by_field_name("condition")
            if condition is not None and tree.node_text(condition).rpartition(".")[2] == "TYPE_CHECKING":
                return True
        inner = ancestor
    return False
