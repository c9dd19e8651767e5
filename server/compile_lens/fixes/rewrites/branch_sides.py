"""The two or more sides of a branch, as values for names: what ``torch.where`` and ``torch.cond`` can choose from."""

from __future__ import annotations

from dataclasses import dataclass

import tree_sitter

from compile_lens.fixes.rewrites.editing import has_comment
from compile_lens.syntax.tree import SourceTree

_NO_VALUE = frozenset(
    {
        "tuple",
        "expression_list",
        "list",
        "dictionary",
        "string",
        "none",
        "yield",
        "await",
        "named_expression",
        "assignment",
    }
)
_TARGETS = frozenset({"identifier", "attribute", "subscript"})
_MOST = 4
# statements between an early return and the last one, which are run in any case
_MOST_BETWEEN = 6


@dataclass(frozen=True, slots=True)
class Value:
    """One side's value for one name, in one line."""

    text: str
    is_name: bool = False


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """``start`` to ``end`` is a choice. ``rows`` are the values on each side, one more side than ``conditions``; they come after ``head``.

    ``before`` are lines that both sides may run: temporary names of a side.
    """

    start: int
    end: int
    head: str
    targets: tuple[str, ...]
    conditions: tuple[tree_sitter.Node, ...]
    rows: tuple[tuple[Value, ...], ...]
    before: tuple[str, ...] = ()


def choice_of_expression(tree: SourceTree, node: tree_sitter.Node) -> BranchChoice | None:
    """``a if c else b``."""
    parts = [child for child in node.named_children if child.type != "comment"]
    if len(parts) != 3 or has_comment(node):
        return None
    sides = [_value(tree, part) for part in (parts[0], parts[2])]
    if sides[0] is None or sides[1] is None:
        return None
    return BranchChoice(node.start_byte, node.end_byte, "", ("",), (parts[1],), ((sides[0],), (sides[1],)))


def choice_of_statement(tree: SourceTree, node: tree_sitter.Node) -> BranchChoice | None:
    """``if`` with its ``elif`` and ``else``, all of which assign the same kind of names, or return."""
    if has_comment(node):
        return None
    clauses: list[tuple[tree_sitter.Node, tree_sitter.Node]] = []
    last: tree_sitter.Node | None = None
    for clause in (node, *(c for c in node.named_children if c.type in ("elif_clause", "else_clause"))):
        body = clause.child_by_field_name("body" if clause.type == "else_clause" else "consequence")
        if body is None:
            return None
        if clause.type == "else_clause":
            last = body
            continue
        condition = clause.child_by_field_name("condition")
        if condition is None:
            return None
        clauses.append((condition, body))
    if len(clauses) > _MOST:
        return None
    found = _assigned(tree, node, clauses, last) or _returned(tree, node, clauses, last)
    return found if found is not None or last is not None else _returned_early(tree, node, clauses)


def _returned(
    tree: SourceTree,
    node: tree_sitter.Node,
    clauses: list[tuple[tree_sitter.Node, tree_sitter.Node]],
    last: tree_sitter.Node | None,
) -> BranchChoice | None:
    final, end = (_single(last) if last is not None else node.next_named_sibling), node
    if last is None and final is not None:
        end = final
    statements = [*(_single(body) for _, body in clauses), final]
    sides = [_returned_values(tree, statement) for statement in statements]
    rows = [side for side in sides if side is not None]
    if len(rows) != len(sides) or len({len(row) for row in rows}) != 1:
        return None
    conditions = tuple(condition for condition, _ in clauses)
    return BranchChoice(node.start_byte, end.end_byte, "return ", ("",) * len(rows[0]), conditions, tuple(rows))


def _returned_early(
    tree: SourceTree, node: tree_sitter.Node, clauses: list[tuple[tree_sitter.Node, tree_sitter.Node]]
) -> BranchChoice | None:
    """``if c: return a`` above assignments of other names, and ``return b``: the assignments are made in any case."""
    between: list[tree_sitter.Node] = []
    following = node.next_named_sibling
    while following is not None and following.type != "return_statement":
        between.append(following)
        following = following.next_named_sibling
    made = [_assigned_names(tree, statement) for statement in between]
    asked = [tree.node_text(each) for condition, body in clauses for each in (condition, body)]
    if following is None or not all(made) or len(between) > _MOST_BETWEEN or len(clauses) != 1:
        return None
    if any(_mentions(text, name) for text in asked for names in made for name in names):
        return None
    sides = [_returned_values(tree, each) for each in (_single(clauses[0][1]), following)]
    if sides[0] is None or sides[1] is None or len(sides[0]) != len(sides[1]):
        return None
    return BranchChoice(
        node.start_byte,
        following.end_byte,
        "return ",
        ("",) * len(sides[0]),
        (clauses[0][0],),
        (sides[0], sides[1]),
        tuple(tree.node_text(statement) for statement in between),
    )


def _assigned_names(tree: SourceTree, statement: tree_sitter.Node) -> list[str]:
    """The names that a statement assigns, if it does nothing else."""
    inner = statement.named_children[0] if statement.type == "expression_statement" else None
    left = inner.child_by_field_name("left") if inner is not None and inner.type == "assignment" else None
    if left is None or has_comment(statement):
        return []
    targets = left.named_children if left.type == "pattern_list" else [left]
    return [tree.node_text(each) for each in targets] if all(each.type == "identifier" for each in targets) else []


def _returned_values(tree: SourceTree, statement: tree_sitter.Node | None) -> tuple[Value, ...] | None:
    if statement is None or statement.type != "return_statement" or statement.named_child_count != 1:
        return None
    value = statement.named_children[0]
    parts = value.named_children if value.type in ("expression_list", "tuple") else [value]
    found = [_value(tree, part) for part in parts]
    return tuple(each for each in found if each is not None) if all(found) else None


def _assigned(
    tree: SourceTree,
    node: tree_sitter.Node,
    clauses: list[tuple[tree_sitter.Node, tree_sitter.Node]],
    last: tree_sitter.Node | None,
) -> BranchChoice | None:
    sides = [assignments(tree, body) for _, body in clauses]
    sides.append(assignments(tree, last) if last is not None else {})
    found = [side for side in sides if side is not None]
    if len(found) != len(sides) or not any(found):
        return None
    before: list[str] = []
    if len(found) == 2 and not found[1]:
        # names that only this side has are made before: they are not there otherwise
        own = [name for name in found[0] if name.isidentifier() and not _is_known_before(tree, node, name)]
        if own and len(own) < len(found[0]) and list(found[0])[: len(own)] == own:
            before = [f"{name} = {found[0].pop(name).text}" for name in own]
    targets = tuple(dict.fromkeys(name for side in found for name in side))
    if len(targets) > _MOST or any(_reads_earlier(side) for side in found):
        return None
    rows = tuple(tuple(side.get(name, Value(name, True)) for name in targets) for side in found)
    head = f"{', '.join(targets)} = "
    return BranchChoice(
        node.start_byte, node.end_byte, head, targets, tuple(condition for condition, _ in clauses), rows, tuple(before)
    )


def assignments(tree: SourceTree, block: tree_sitter.Node) -> dict[str, Value] | None:
    """What each statement of a block assigns, if each assigns a value to one name and no name twice."""
    found: dict[str, Value] = {}
    for statement in block.named_children:
        inner = (
            statement.named_children[0]
            if statement.type == "expression_statement" and statement.named_children
            else None
        )
        if statement.type == "pass_statement":
            continue
        if inner is None or inner.type not in ("assignment", "augmented_assignment"):
            return None
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        if left is None or right is None or left.type not in _TARGETS or inner.child_by_field_name("type") is not None:
            return None
        value, name = _value(tree, right), " ".join(tree.node_text(left).split())
        if value is None or name in found:
            return None
        if inner.type == "augmented_assignment":
            operator = inner.child_by_field_name("operator")
            sign = tree.node_text(operator).removesuffix("=") if operator is not None else ""
            operand = (
                value.text
                if right.type in ("identifier", "integer", "float", "call", "attribute")
                else f"({value.text})"
            )
            value = Value(f"{name} {sign} {operand}")
        found[name] = value
    return found


def _reads_earlier(side: dict[str, Value]) -> bool:
    """Whether a statement of a side reads what an earlier one has assigned: then they cannot be assigned at once."""
    names = list(side)
    return any(_mentions(side[name].text, earlier) for number, name in enumerate(names) for earlier in names[:number])


def _mentions(text: str, name: str) -> bool:
    words = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split()
    return (name in words) if name.isidentifier() else (name in text)


def _is_known_before(tree: SourceTree, node: tree_sitter.Node, name: str) -> bool:
    """Whether a name is mentioned in the function before a node: a parameter, or assigned."""
    function = node
    while function.parent is not None and function.type != "function_definition":
        function = function.parent
    before = tree.source[function.start_byte : node.start_byte].decode("utf-8", "replace")
    return _mentions(before, name)


def _single(block: tree_sitter.Node) -> tree_sitter.Node | None:
    return block.named_children[0] if block.named_child_count == 1 else None


def _value(tree: SourceTree, node: tree_sitter.Node) -> Value | None:
    if node.type in _NO_VALUE:
        return None
    return Value(" ".join(tree.node_text(node).split()), node.type == "identifier")
