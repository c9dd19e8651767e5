"""Reads guards that are Python expressions: comparisons of values and sizes, calls, ranges.

They are written by torch/_dynamo/guards.py and torch/fx/experimental/symbolic_shapes.py (torch 2.6 to 2.13).
"""

from __future__ import annotations

import ast
import re

from msgspec.structs import replace

from compile_lens.analysis.guard_facts import GuardFact, fact_about, fact_of_length, fact_of_value, named_value
from compile_lens.analysis.guard_sources import GuardedValue, guarded_value, plain_source
from compile_lens.late_pattern import pattern
from compile_lens.syntax.foreign_texts import parse_expression

RANGE = pattern(r"^(?:(?P<low>-?\d+) <= )?(?P<name>[^<>=]+?)(?: <= (?P<high>-?\d+))?$")


def fact_of_expression(guard: str) -> GuardFact | None:
    """The fact behind a guard that is an expression: a comparison, a call, ``not``, ``and``. None for other forms."""
    try:
        node = parse_expression(guard)
    except SyntaxError:
        return _of_unparsable(guard)
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    if isinstance(node, ast.UnaryOp) and negated:
        node = node.operand
    if isinstance(node, ast.BoolOp):
        nan = next(
            (n for n in ast.walk(node) if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("_isnan")), None
        )
        return _compared(ast.unparse(nan.args[0]), "==", "nan") if nan is not None else None
    if isinstance(node, ast.Call):
        return _call(node, negated)
    if isinstance(node, ast.Compare) and not negated:
        return _comparison(node)
    if negated:
        # "not x": an empty container
        return fact_about(ast.unparse(node), "length", before="0", expected="0")
    return None


def _of_unparsable(guard: str) -> GuardFact | None:
    """``dtype == <class 'float'>``: the left side is an expression, the right side is not."""
    for operator in (" == ", " != ", " is not ", " is "):
        left, found, right = guard.partition(operator)
        if found:
            return _compared(left, operator.strip(), right)
    return None


def _call(node: ast.Call, negated: bool) -> GuardFact | None:
    name = ast.unparse(node.func)
    arguments = [ast.unparse(argument) for argument in node.args]
    if name in ("___dict_contains", "set.__contains__", "frozenset.__contains__") and len(arguments) == 2:
        owner, key = (arguments[1], arguments[0]) if name == "___dict_contains" else (arguments[0], arguments[1])
        return _membership(owner, key, negated, name == "___dict_contains")
    if name == "hasattr" and len(arguments) == 2:
        attribute = ast.literal_eval(arguments[1])
        event = f"now has an attribute `{attribute}`" if negated else f"no longer has an attribute `{attribute}`"
        return fact_about(arguments[0], f"attribute {attribute}", event=event, expected=str(not negated))
    return None


def _membership(owner: str, key: str, negated: bool, keyed: bool) -> GuardFact:
    now = "now has" if negated else "no longer has"
    if owner.endswith(".__dict__") and keyed:
        attribute = ast.literal_eval(key)
        event = f"{now} an attribute `{attribute}` of its own"
        return fact_about(
            owner.removesuffix(".__dict__"), f"attribute {attribute}", event=event, expected=str(not negated)
        )
    event = f"{now} key `{key}`" if keyed else ("now contains" if negated else "no longer contains") + f" `{key}`"
    return fact_about(owner, f"key {key}", event=event, expected=str(not negated))


def _comparison(node: ast.Compare) -> GuardFact | None:
    if len(node.ops) == 1:
        operator = OPERATORS.get(type(node.ops[0]), "")
        left, right = node.left, node.comparators[0]
        if isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
            left, right, operator = right, left, MIRRORED.get(operator, operator)
        return _compared(ast.unparse(left), operator, ast.unparse(right), right)
    match = RANGE.match(ast.unparse(node))
    return _ranged(match["name"], match["low"], match["high"]) if match is not None else None


OPERATORS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
LESS = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least"}
COUNTED = pattern(
    r"^(?P<function>len|___tuple_iterator_len|___normalize_range_iter|___normalize_count_iter|___dict_version|str|int|float|bool|complex|list)"
    r"\((?P<name>.+)\)$"
)
# what a call around the value reads of it
READINGS = {
    "___tuple_iterator_len": "length",
    "___normalize_range_iter": "range",
    "___normalize_count_iter": "count",
    "___dict_version": "content",
}


def _compared(left: str, operator: str, right: str, right_node: ast.expr | None = None) -> GuardFact | None:
    expected = right if operator in ("==", "is") else f"{operator} {right}"
    if left.endswith(".keys())") and left.startswith("list("):
        return fact_about(left.removeprefix("list(").removesuffix(".keys())"), "keys", before=right, expected=expected)
    if left.startswith("list(dict.keys(") and left.endswith("))"):
        return fact_about(
            left.removeprefix("list(dict.keys(").removesuffix("))"), "keys", before=right, expected=expected
        )
    if left.endswith(".raw_repr()"):
        return fact_about(left.removesuffix(".raw_repr()"), "dispatch keys")
    counted = COUNTED.match(left)
    if counted is not None and counted["function"] == "len":
        return fact_of_length(counted["name"], right, expected)
    if counted is not None and counted["function"] in READINGS:
        return fact_about(counted["name"], READINGS[counted["function"]], before=right, expected=expected)
    if counted is not None and counted["function"] != "list":
        left = counted["name"]
    value = guarded_value(left)
    if not _is_read(left):
        # arithmetic with sizes: the condition is all that can be named
        condition = f"{left} {operator} {right}"
        root = next(iter(SIZED.findall(left)), "")
        return GuardFact(
            root,
            "condition",
            event="no longer holds",
            subject=f"the condition `{plain_source(condition)}`",
            expected=condition,
        )
    other = None if right_node is None or _is_value(right_node) else guarded_value(ast.unparse(right_node))
    if other is not None and other.expression:
        return _related(value, operator, other, expected)
    if operator in LESS:
        fact = fact_of_value(value, f"{LESS[operator]} {right}")
        return replace(fact, expected=expected)
    if operator in ("!=", "is not"):
        event = "became" if value.dimension is None else ""
        words = named_value(value)
        # it was anything but this, and now is
        return GuardFact(
            value.expression, value.what or "value", after=right, dimension=value.dimension,
            subject=words, event=f"{event or 'became'} {right}", expected=expected,
        )  # fmt: skip
    return replace(fact_of_value(value, right), expected=expected)


def _is_read(source: str) -> bool:
    """Whether ``source`` reads one value: a name, an attribute, an item, a call of a method."""
    try:
        node = parse_expression(source)
    except SyntaxError:
        return True
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or (
        isinstance(node, ast.Call) and not _is_symbolic(node)
    )


def _is_symbolic(call: ast.Call) -> bool:
    """Whether it is a function of sympy's, ``Mod(x.size()[0], 2)``, rather than a method or one of torch's accessors."""
    return isinstance(call.func, ast.Name) and call.func.id[:1].isupper()


SIZED = pattern(r"(?<![\w.])([A-Za-z_][\w.]*)\.(?:size|stride)\(\)")


def _related(value: GuardedValue, operator: str, other: GuardedValue, expected: str) -> GuardFact:
    """A condition between two values: ``y.size()[0] == x.size()[0]``, ``b is a``."""
    left, right = named_value(value), named_value(other)
    event = {
        "==": f"no longer equals {right}",
        "!=": f"now equals {right}",
        "is": f"is no longer the same object as {right}",
        "is not": f"is now the same object as {right}",
        "<": f"is no longer less than {right}",
        "<=": f"is now more than {right}",
        ">": f"is no longer more than {right}",
        ">=": f"is now less than {right}",
    }.get(operator, f"no longer fits {right}")
    return GuardFact(
        value.expression, value.what or "value", dimension=value.dimension, event=event, subject=left, expected=expected
    )


def _is_value(node: ast.expr) -> bool:
    """Whether the right side of a comparison is a value rather than another guarded expression."""
    if isinstance(node, ast.Call):
        return not (isinstance(node.func, ast.Attribute) and node.func.attr in ("size", "stride"))
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    calls = any(isinstance(part, ast.Call) for part in ast.walk(node))
    # torch.float32, nan, inf, device(type='cpu')
    return (
        not names
        or names <= {"torch", "nan", "inf", "device"}
        or (calls and not re.search(r"\.(?:size|stride)\(\)", ast.unparse(node)))
    )


def _ranged(name: str, low: str | None, high: str | None) -> GuardFact:
    bounds = f"{low or 0} to {high}" if high else f"{low} or more"
    return replace(fact_of_value(guarded_value(name.strip()), bounds), expected=f"in {bounds}")
