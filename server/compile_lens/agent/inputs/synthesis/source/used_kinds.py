"""Reads from the uses of a tensor which kind of numbers it has: one that chooses is Boolean, one that points to something an integer.

A float where an index is meant fails; an integer where a mask is meant may not, and then `~mask` is another number.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

# methods whose results have the numbers of what they are called on, in other shapes
_SHAPING = frozenset(
    [
        *("view", "reshape", "expand", "expand_as", "unsqueeze", "squeeze", "flatten", "repeat", "contiguous", "clone", "detach"),
        *("transpose", "permute", "t", "cuda", "cpu", "requires_grad_"),
    ]
)  # fmt: skip
# functions with an index or a mask, and at which position; of the method, it stands one place earlier
_INDICES = {
    **dict.fromkeys(("index_select", "index_add", "index_copy", "index_fill", "gather", "scatter", "scatter_add", "scatter_reduce"), 2),
    **dict.fromkeys(("take_along_dim", "take"), 1),
    **dict.fromkeys(("one_hot", "embedding", "embedding_bag", "bincount"), 0),
}  # fmt: skip
_MASKS = {"masked_fill": 1, "masked_select": 1, "masked_scatter": 1, "where": 0}
_FUNCTIONS_ONLY = frozenset({"one_hot", "embedding", "embedding_bag"})
_OF_TORCH = frozenset({"torch", "F", "functional", "nn"})
BOOLEAN, INTEGER, NUMBER = "bool", "int64", "float32"


def used_kinds(body: list[ast.stmt], names: Collection[str]) -> dict[str, str]:
    """The dtypes that the uses of the parameters ``names`` in ``body`` ask for, by name; of what is read of one, by `name.field`. The
    first use counts."""
    uses = _KindsOfUses(names)
    for statement in body:
        uses.visit(statement)
    return uses.found


class _KindsOfUses(ast.NodeVisitor):
    def __init__(self, names: Collection[str]) -> None:
        self.found: dict[str, str] = {}
        # what local names stand for; a name that is assigned something else stands for nothing
        self._meant = {name: name for name in names}
        self._names = names

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else []
                is_alike = len(values) == len(target.elts)
                pairs = [(each, values[number] if is_alike else target) for number, each in enumerate(target.elts)]
            for each, value in pairs:
                if isinstance(each, ast.Name):
                    self._meant[each.id] = self._path(value)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.visit(node.operand)
        if isinstance(node.op, ast.Invert):
            self._use(node.operand, BOOLEAN)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.generic_visit(node)
        if isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Constant):
            self._use(node.right, NUMBER)  # of a Boolean tensor torch subtracts nothing
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(node.op, (ast.BitAnd, ast.BitOr)) and isinstance(other, ast.Compare):
                self._use(one, BOOLEAN)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        name = name.rstrip("_")
        for table, kind, words in ((_INDICES, INTEGER, ("index",)), (_MASKS, BOOLEAN, ("mask", "condition"))):
            if name in table:
                place = _place(node.func, name, table[name])
                named = [keyword.value for keyword in node.keywords if keyword.arg in words and place is not None]
                for each in (*named, *(node.args[place : place + 1] if place is not None else ())):
                    self._use(each, kind)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        # `self.table[steps]`; what is looked up in a local value may be a mask of it
        is_of_object = isinstance(node.value, ast.Attribute) and getattr(node.value.value, "id", "") == "self"
        path = self._path(node.slice)
        if is_of_object and path and "mask" not in path:
            self._use(node.slice, INTEGER)

    def _use(self, node: ast.expr, kind: str) -> None:
        path = self._path(node)
        if path:
            self.found.setdefault(path, kind)

    def _path(self, node: ast.AST) -> str:
        """The parameter, or what is read of one, whose numbers ``node`` has; '' for anything else."""
        while True:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SHAPING:
                node = node.func.value
            elif isinstance(node, ast.Subscript) and not isinstance(getattr(node.slice, "value", None), str):
                node = node.value
            else:
                break
        if isinstance(node, ast.Name):
            return self._meant.get(node.id, "")
        key = node.attr if isinstance(node, ast.Attribute) else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            key = str(node.slice.value)
        owner = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None
        whole = self._meant.get(owner.id, "") if isinstance(owner, ast.Name) else ""
        return f"{whole}.{key}" if key and whole in self._names else ""


def _place(func: ast.expr, name: str, place: int) -> int | None:
    """Where the index or the mask stands in a call of torch's function ``name``, or of the method of a tensor; None for other functions."""
    if not isinstance(func, ast.Attribute):
        return place if name == "one_hot" else None  # a function of the file may have the other names
    owner = ast.unparse(func.value)
    if owner.rpartition(".")[2] in _OF_TORCH:
        return place
    return place - 1 if place > 0 and name not in _FUNCTIONS_ONLY and owner != "self" else None
