"""Where edits go: statements, indentation, line ends, imports, and the place of configuration."""

from __future__ import annotations

import re

import tree_sitter

from compile_lens.analysis.finding import Place
from compile_lens.fixes.fix import Edit
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Range, SourceTree, ancestors

_DEFINITIONS = frozenset({"function_definition", "class_definition", "decorated_definition"})
_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
_OWN_EXPRESSION = frozenset(
    {
        "lambda",
        "list_comprehension",
        "set_comprehension",
        "dictionary_comprehension",
        "generator_expression",
        "conditional_expression",
    }
)
_LINE_END = re.compile(r"\r\n|\r|\n")


def node_at(tree: SourceTree, place: Place) -> tree_sitter.Node | None:
    """The outermost expression that covers exactly ``place``, or None when nothing does (the text has changed)."""
    start, end = tree.offset(place.line, place.column), tree.offset(place.end_line, place.end_column)
    node = tree.root.named_descendant_for_byte_range(start, end)
    if node is None or (node.start_byte, node.end_byte) != (start, end):
        return None
    while node.parent is not None and (node.parent.start_byte, node.parent.end_byte) == (start, end):
        if node.parent.type.endswith("statement") or node.parent.type in ("block", "module"):
            break
        node = node.parent
    return node


def call_at(tree: SourceTree, place: Place) -> tree_sitter.Node | None:
    """The call that covers exactly ``place``."""
    node = node_at(tree, place)
    return node if node is not None and node.type == "call" else None


def newline(tree: SourceTree) -> str:
    """What ends the lines of a text."""
    match = _LINE_END.search(tree.text)
    return match[0] if match else "\n"


def statement_of(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The statement that an expression is evaluated in, once and unconditionally; None where it has one of its own to run in."""
    inner = node
    for ancestor in ancestors(node):
        if ancestor.type in ("block", "module"):
            return inner
        if ancestor.type in _OWN_EXPRESSION or ancestor.type in ("while_statement", "elif_clause"):
            return None
        inner = ancestor
    return None


def before(tree: SourceTree, statement: tree_sitter.Node, *lines: str) -> Edit | None:
    """``lines`` of their own before a statement, indented as it is; None when it does not begin its line."""
    line, column = tree.position(statement.start_byte)
    indent = tree.line_text(line)[: column - 1]
    if indent.strip():
        return None
    return Edit(Range(line, 1, line, 1), "".join(f"{indent}{text}{newline(tree)}" for text in lines))


def remove_statement(tree: SourceTree, statement: tree_sitter.Node) -> Edit | None:
    """Take a statement away, with its lines where it is alone on them; ``pass`` where something must stand."""
    whole = tree.node_range(statement)
    head = tree.line_text(whole.line)[: whole.column - 1]
    tail = tree.line_text(whole.end_line)[whole.end_column - 1 :]
    block = statement.parent
    others = [] if block is None else [n for n in block.named_children if n != statement and n.type != "comment"]
    alone = not head.strip() and (not tail.strip() or tail.lstrip().startswith("#"))
    if not others or not alone:
        return Edit(whole, "pass")
    if whole.end_line == len(tree.lines):
        return Edit(Range(whole.line, 1, whole.end_line, len(tree.line_text(whole.end_line)) + 1), "")
    return Edit(Range(whole.line, 1, whole.end_line + 1, 1), "")


def indent_of(tree: SourceTree, offset: int) -> str:
    """The blanks that a line begins with."""
    text = tree.line_text(tree.position(offset)[0])
    return text[: len(text) - len(text.lstrip())]


def function_around(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The innermost function that a node is in."""
    return next((each for each in ancestors(node) if each.type == "function_definition" and each != node), None)


def above_top_level(tree: SourceTree, node: tree_sitter.Node, *lines: str) -> Edit | None:
    """``lines`` before the statement at the top level that holds a node; None when that does not begin its line."""
    top = list(ancestors(node))[-2:]
    line, column = tree.position(top[0].start_byte)
    end = newline(tree)
    return Edit(Range(line, 1, line, 1), "".join(text + end for text in lines) + end + end) if column == 1 else None


def replace_node(tree: SourceTree, node: tree_sitter.Node, text: str) -> Edit:
    """``text`` in the place of a node."""
    return Edit(tree.node_range(node), text)


def torch_name(tree: SourceTree) -> tuple[str, bool]:
    """The name of the module torch in a file, and whether it is there already."""
    for name, full in read_imports(tree).names.items():
        if full == "torch":
            return name, True
    return "torch", False


def torch_import(tree: SourceTree) -> Edit | None:
    """``import torch``, if the file has no name for torch."""
    return None if torch_name(tree)[1] else _after_imports(tree, ("import torch",), blank=False)


def below_imports(tree: SourceTree, statement: str, blank: bool = False) -> Edit:
    """A statement below the imports of the file, after a blank line or not."""
    return _after_imports(tree, (statement,), blank)


def configuration(tree: SourceTree, *statements: str) -> Edit:
    """``statements`` below the imports, in which ``torch`` is the name of the module; it is imported if the file does not."""
    name, present = torch_name(tree)
    lines = [re.sub(r"^torch\b", name, statement) for statement in statements]
    last = _last_option(tree, name)
    if last is not None and last < len(tree.lines):
        return Edit(Range(last + 1, 1, last + 1, 1), "".join(line + newline(tree) for line in lines))
    return _after_imports(tree, lines if present else ["import torch", "", *lines], blank=True)


def _last_option(tree: SourceTree, torch: str) -> int | None:
    """The last line of the options that the file sets below its imports; None where there is none."""
    last = None
    for child in tree.root.named_children:
        if child.type in _DEFINITIONS:
            break
        if child.type in _IMPORTS:
            last = None
        elif child.type == "expression_statement" and tree.node_text(child).startswith(f"{torch}._dynamo.config."):
            last = tree.position(child.end_byte)[0]
    return last


def _after_imports(tree: SourceTree, lines: list[str] | tuple[str, ...], blank: bool) -> Edit:
    last = 0
    for number, child in enumerate(tree.root.named_children):
        if child.type in _DEFINITIONS:
            break
        is_docstring = number == 0 and child.type == "expression_statement" and _is_text(child)
        if (
            child.type in _IMPORTS
            or is_docstring
            or (child.type == "comment" and last == tree.position(child.start_byte)[0] - 1)
        ):
            last = tree.position(child.end_byte)[0]
    end = newline(tree)
    text = "".join(line + end for line in lines)
    if last == len(tree.lines):
        return Edit(Range(last, len(tree.lines[-1]) + 1, last, len(tree.lines[-1]) + 1), end + text)
    return Edit(Range(last + 1, 1, last + 1, 1), (end if blank and last else "") + text)


def _is_text(statement: tree_sitter.Node) -> bool:
    return statement.named_child_count == 1 and statement.named_children[0].type == "string"


def has_comment(node: tree_sitter.Node) -> bool:
    """Whether a node holds a comment, which an edit of the whole would lose."""
    return node.type == "comment" or any(has_comment(child) for child in node.named_children)


def target_of(statement: tree_sitter.Node) -> tree_sitter.Node | None:
    """The target of an assignment; None for another statement."""
    inner = (
        statement.named_children[0] if statement.type == "expression_statement" and statement.named_children else None
    )
    return inner.child_by_field_name("left") if inner is not None and inner.type == "assignment" else None


def text_with(tree: SourceTree, node: tree_sitter.Node, replaced: list[tuple[int, int, str]]) -> str:
    """The text of ``node`` with some of its parts replaced: the first and last byte of each in the source, and the new text."""
    pieces, done = [], node.start_byte
    for start, end, text in sorted(replaced):
        pieces += [tree.source[done:start].decode("utf-8", "replace"), text]
        done = end
    return "".join([*pieces, tree.source[done : node.end_byte].decode("utf-8", "replace")])
