"""Decides whether running a file as a script can compile anything, by the statements at its top level."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import tree_sitter

from compile_lens.syntax.callees import CalleeNames, read_names
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import SourceTree, identifiers, kept_with_tree

_QUIET = frozenset(
    [
        "import_statement",
        "import_from_statement",
        "future_import_statement",
        "class_definition",
        "function_definition",
        "decorated_definition",
        "comment",
        "pass_statement",
        "global_statement",
        "type_alias_statement",
    ]
)
_NO_PROJECT = sys.stdlib_module_names | {"torch", "numpy"}


def does_something(tree: SourceTree) -> bool:
    """Whether the top level calls what the file defines or hands it to a call, loops, or has a ``__main__`` part."""
    names = read_names(tree)
    own = _defined_at_top(tree)
    return any(_acts(tree, names, own, node) for node in tree.root.named_children)


def calls_imported(tree: SourceTree) -> bool:
    """Whether the top level calls what the file imports, other than from Python, torch and numpy: that may be all that it is about
    (`from shop.train import main; main()`)."""
    imports = read_imports(tree)
    calls = (call for node in tree.root.named_children if node.type not in _QUIET for call in _calls(node))
    named = filter(None, (imports.names.get(_root_name(tree, call)) for call in calls))
    return not _NO_PROJECT.issuperset(name.partition(".")[0] for name in named)


def _root_name(tree: SourceTree, call: tree_sitter.Node) -> str:
    """``shop`` of `shop.train.main()`."""
    return next((tree.node_text(name) for name in identifiers(call)), "")


def has_errors(tree: SourceTree) -> bool:
    """Whether the file has syntax errors, which running it as a script reports."""
    return tree.root.has_error


def _acts(tree: SourceTree, names: CalleeNames, own: set[str], node: tree_sitter.Node) -> bool:
    if node.type in _QUIET:
        return False
    if node.type in ("for_statement", "while_statement", "with_statement", "assert_statement", "raise_statement"):
        return True
    if node.type == "if_statement":
        return _is_main(tree, node) or any(_acts(tree, names, own, child) for child in _statements(node))
    if node.type == "try_statement":
        return any(_acts(tree, names, own, child) for child in _statements(node))
    return any(_is_own_call(tree, names, own, call) for call in _calls(node))


def _statements(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The statements in the blocks of a compound statement."""
    for child in node.named_children:
        if child.type == "block":
            yield from child.named_children
        elif child.type in ("else_clause", "elif_clause", "except_clause", "finally_clause"):
            yield from _statements(child)


def _is_main(tree: SourceTree, node: tree_sitter.Node) -> bool:
    condition = node.child_by_field_name("condition")
    return condition is not None and "__name__" in tree.node_text(condition) and "__main__" in tree.node_text(condition)


def _is_own_call(tree: SourceTree, names: CalleeNames, own: set[str], call: tree_sitter.Node) -> bool:
    """Whether a call runs code of the file, or may, or compiles: ``model(x)``, ``main()``, ``map(fn, xs)``, ``torch.compile(f)(x)``."""
    function = call.child_by_field_name("function")
    if function is None:
        return False
    if names.callee(call) is not None:
        return True
    arguments = call.child_by_field_name("arguments")
    # a class is handed on as a type more often than to be called: `TypeVar("T", bound=Net)`
    handed_on = (tree.node_text(name) for name in identifiers(arguments)) if arguments is not None else ()
    classes = _classes_at_top(tree)
    if any(name in own and name not in classes for name in handed_on):
        return True
    root = function
    while root.type in ("attribute", "call", "subscript"):
        inner = (
            root.child_by_field_name("object")
            or root.child_by_field_name("function")
            or root.child_by_field_name("value")
        )
        if inner is None:
            return False
        root = inner
    return root.type == "identifier" and tree.node_text(root) in own


def _defined_at_top(tree: SourceTree) -> set[str]:
    found: set[str] = set()
    for node in tree.root.named_children:
        inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        name = inner.child_by_field_name("name") if inner is not None else None
        if inner is not None and inner.type in ("class_definition", "function_definition") and name is not None:
            found.add(tree.node_text(name))
    # variables that are assigned from them count, too: net = Net(); net(x)
    for node in tree.root.named_children:
        assignment = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
        if assignment is not None and assignment.type == "assignment":
            left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
            words = {tree.node_text(n) for n in identifiers(right)} if right is not None else set()
            if left is not None and words & found:
                found |= {tree.node_text(n) for n in identifiers(left)}
    return found


# asked about for each call
@kept_with_tree
def _classes_at_top(tree: SourceTree) -> set[str]:
    names = (n.child_by_field_name("name") for n in tree.root.named_children if n.type == "class_definition")
    return {tree.node_text(name) for name in names if name is not None}


def _calls(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    if node.type == "call":
        yield node
    if node.type == "lambda":
        return
    for child in node.named_children:
        yield from _calls(child)
