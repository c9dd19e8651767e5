"""Functions of other libraries, and of Python, that torch has for tensors."""

from __future__ import annotations

import tree_sitter

from compile_lens.fixes.rewrites.editing import function_around, torch_name
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Query, SourceTree

# functions of math and builtins with a tensor where torch has the same (torch/_torch_docs.py)
OF_MATH = {
    name: name
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "erf", "erfc"),
        *("exp", "expm1", "floor", "gcd", "hypot", "isfinite", "isinf", "isnan", "lcm", "lgamma", "log", "log10"),
        *("log1p", "log2", "pow", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
    )
} | {"fabs": "abs"}
OF_NUMPY = {
    name: name
    for name in (
        *("abs", "sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "floor", "ceil", "sign", "clip", "maximum"),
        *("minimum", "mean", "sum", "concatenate", "stack", "dot", "matmul", "where", "cumsum", "argmax", "argsort"),
        *("isnan", "sort"),
    )
}
_ASSIGNMENTS = Query("(assignment) @assignment")
_ITEM = ".item()"


def equivalent(torch: str, full: str, given: list[str]) -> str:
    """The call of torch's function that does what the function ``full`` does; '' if there is none."""
    module, _, name = full.rpartition(".")
    if module == "math" and name in OF_MATH:
        return f"{torch}.{OF_MATH[name]}({', '.join(given)})"
    if module == "numpy" and name in OF_NUMPY:
        return f"{torch}.{OF_NUMPY[name]}({', '.join(given)})"
    if full in ("min", "max") and len(given) == 2:
        return f"{torch}.{full}imum({', '.join(given)})"
    if full in ("min", "max", "any", "all", "sum", "abs") and len(given) == 1:
        return f"{torch}.{full}({given[0]})"
    if full in ("copy.deepcopy", "copy.copy") and len(given) == 1 and given[0].isidentifier():
        return f"{given[0]}.clone()"
    return ""


def of_math(tree: SourceTree, call: tree_sitter.Node) -> str:
    """torch's name for the function of ``math`` that is called with the number of a tensor; '' for another call."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.type != "argument_list" or arguments.named_child_count != 1:
        return ""
    module, _, name = (read_imports(tree).resolve(tree.node_text(function))).rpartition(".")
    given = tree.node_text(arguments.named_children[0])
    if module != "math" or name not in OF_MATH or not (given.endswith(_ITEM) or given in numbers_of(tree, call)):
        return ""
    return f"{torch_name(tree)[0]}.{OF_MATH[name]}"


def numbers_of(tree: SourceTree, node: tree_sitter.Node) -> set[str]:
    """The names in the function around a node to which ``.item()`` of a tensor is assigned, and nothing else."""
    function = function_around(node)
    found: dict[str, bool] = {}
    for each in _ASSIGNMENTS.captures(function).get("assignment", []) if function is not None else ():
        left, right = each.child_by_field_name("left"), each.child_by_field_name("right")
        if left is not None and left.type == "identifier":
            is_number = right is not None and tree.node_text(right).endswith(_ITEM)
            found[tree.node_text(left)] = is_number and found.get(tree.node_text(left), True)
    return {name for name, is_number in found.items() if is_number}
