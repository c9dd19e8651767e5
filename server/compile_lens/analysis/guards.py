"""Reads a guard: which value it is about, what about it, and what it was before and after.

The texts are those of torch/_dynamo/guards.py and torch/csrc/dynamo/guards.cpp (torch 2.6 to 2.13).
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace

from compile_lens.analysis.global_state import state_fact_parts
from compile_lens.analysis.guard_sources import INTERNAL, GuardedValue, guarded_value, plain_source
from compile_lens.trace.report import GuardFailure

TENSOR = re.compile(
    r"^tensor '(?P<name>.+?)' (?P<what>.+?)(?: mismatch)?(?: at index (?P<index>\d+))?\. (?P<rest>.*)$", re.DOTALL
)
EXPECTED = re.compile(
    r"xpected (?:\w+=|device index to be )?(?P<before>.+?)(?:, actual (?P<after>.+?))?\.?$", re.DOTALL
)
NOT_A_TENSOR = re.compile(
    r"^expected type of '(?P<name>.+?)' to be (?:a tensor type, )?.*?'? but found (?:<class ')?(?P<after>[^'>]+)"
)
CHECKED_TYPE = re.compile(
    r"^___check_(?:type_id|fake_script_type)\((?P<name>.+), (?P<id>\d+)\)(?:, type=<class '(?P<type>[^']+)'>)?"
)
CHECKED_OBJECT = re.compile(r"^___check_obj_id\((?P<name>.+), (?P<id>\d+)\)(?:, type=<class '(?P<type>[^']+)'>)?")
LENGTH_CHANGED = re.compile(r"^len\((?P<name>.+)\) != (?P<value>\d+)$")
TYPE_CHANGED = re.compile(r"^TYPE_MISMATCH\((?P<name>.+)\)$")
NOT_A_FUNCTION = re.compile(r"^\w+Accessor: Not a function on (?P<name>.+)$")
UNREACHABLE = re.compile(
    r"^(?:KeyError on|IndexError on|getattr failed on source|null type dict on|Not a callable obj|Not a weakref(?: obj)?"
    r"|Weakref_GetRef failed|Expected type .*? on|not a tensor - grad field is accessed) ?(?P<name>.+)$"
)
DEALLOCATED = re.compile(r"^Cache line invalidated because (?P<name>.+) got deallocated$")
DUPLICATES = re.compile(r"^Duplicate tensors? found(?: where not expected!)?:? ?(?P<names>.*)$")
QUOTED = re.compile(r"['\"]([^'\"]+)['\"]")
STATE = re.compile(r"^(?:GLOBAL_STATE changed: ?|___check_global_state\(\))(?P<what>.*)$", re.DOTALL)
MARKED = re.compile(r"^(?P<mark>_dynamo_\w+|_has_dynamo_dim_marking)\b")
RANGE = re.compile(r"^(?:(?P<low>-?\d+) <= )?(?P<name>[^<>=]+?)(?: <= (?P<high>-?\d+))?$")
OVERLAP = re.compile(r"^check_overlapping\(overlapping=\[(?P<names>.*)\], non_overlapping=")

# c10/core/ScalarType.h
DTYPES = {
    "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Half": "float16", "Float": "float32",
    "Double": "float64", "ComplexHalf": "complex32", "ComplexFloat": "complex64", "ComplexDouble": "complex128", "Bool": "bool",
    "BFloat16": "bfloat16",
}  # fmt: skip
# guards without a value of the user's: what each checks (torch/_dynamo/guards.py)
AMBIENT = (
    ("___check_torch_function_mode_stack()", "the default device or another `__torch_function__` mode", "changed"),
    ("utils_device.CURRENT_DEVICE ==", "the default device", "changed"),
    ("torch.autograd.forward_ad._current_level ==", "the level of forward-mode differentiation", "changed"),
    ("torch._functorch.pyfunctorch.compare_functorch_state(", "the active `torch.func` transforms", "changed"),
    ("torch._functorch.aot_autograd.utils.top_saved_tensors_hooks", "the active hooks on saved tensors", "changed"),
    ("___check_metadata_", "the metadata of a tensor subclass", "changed"),
    ("__dtensor_spec_", "the mesh or the placements of a DTensor", "changed"),
    ("___check_opaque_guard_fn_", "a value that an opaque object guards", "changed"),
    ("BACKEND_MATCH failure", "the backend", "is another function"),
    ("Unexpected recompilation", "", "torch gives no reason (calls from several threads?)"),
)
MODES = {
    "_dynamo_dynamic_indices": "`mark_dynamic`",
    "_dynamo_weak_dynamic_indices": "`maybe_mark_dynamic`",
    "_dynamo_static_indices": "`mark_static`",
    "_dynamo_unbacked_indices": "`mark_unbacked`",
    "_dynamo_strict_unbacked_indices": "`mark_unbacked`",
    "_dynamo_shape_ids": "`mark_unbacked`",
    "_dynamo_unbacked_bounds": "`mark_unbacked`",
}
# kinds of objects that are told by name rather than as "another object of type"
KINDS = {
    "code": "function",
    "function": "function",
    "method": "function",
    "builtin_function_or_method": "function",
    "type": "class",
    "module": "module",
}


ATTRIBUTE = "attribute "


@dataclass(frozen=True, slots=True)
class GuardFact:
    """One guard in plain terms.

    ``name`` is the guarded expression as the user writes it (``x``, ``self.calls``), or ''. ``what`` is its property that changed
    (``size``, ``dtype``, ``value``), ``dimension`` that of a size or stride. ``before`` and ``after`` are '' where torch does not say.
    ``event`` is what happened to it, where "… changed" does not say it. ``subject`` names it in a sentence.
    ``expected`` is what the guard wants, to compare it with other versions'; '' if it cannot be compared. ``stated`` is the guard of a
    version that states it.
    """

    name: str
    what: str
    before: str = ""
    after: str = ""
    dimension: int | None = None
    event: str = ""
    subject: str = ""
    expected: str = ""
    stated: GuardFailure | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> tuple[str, str, str, int | None]:
        """What is guarded, whatever its value."""
        return self.name, self.subject, self.what, self.dimension

    @property
    def reading(self) -> str:
        """What the user writes to read it: ``state.step`` where ``state`` has an attribute of its own now."""
        return f"{self.name}.{self.what.removeprefix(ATTRIBUTE)}" if self.what.startswith(ATTRIBUTE) else self.name

    @property
    def root(self) -> str:
        """The variable that the expression starts from: ``self`` of ``self.calls``."""
        match = ROOT.match(self.name)
        return match[0] if match else ""

    @property
    def expressions(self) -> tuple[str, ...]:
        """``name`` and what it is part of, longest first: ``self.dropout.training``, ``self.dropout``; the variable alone is ``root``."""
        found = []
        name = self.reading
        while LAST_STEP.search(name):
            found.append(name)
            name = LAST_STEP.sub("", name)
        return tuple(found) or (self.name,)


ROOT = re.compile(r"[A-Za-z_]\w*")
# the last attribute or subscript of an expression
LAST_STEP = re.compile(r"(?:\.\w+|\[[^\[\]]*\])$")
# several threads that compile the same function leave torch without one
NO_REASON = GuardFact("", "", event="torch gives no reason (calls from several threads?)")


def read_guard(failure: GuardFailure) -> GuardFact:
    """The fact behind ``failure``; a guard of an unknown form keeps its own text."""
    guard = failure.guard.strip()
    if not guard:
        return NO_REASON
    if ".cell_contents" in guard and (captured := CAPTURED.search(failure.hint)) is not None:
        # torch names the variable that a closure captures beside its expression (torch 2.12)
        guard = CELL.sub(captured["name"], guard, count=1)
    return _of_text(guard) or _of_expression(guard) or _unread(guard)


CAPTURED = re.compile(r'guard on "(?P<name>\w+)"')
CELL = re.compile(r"[\w.\[\]']+\.__closure__\[\d+\]\.cell_contents")


def _unread(guard: str) -> GuardFact:
    shown = plain_source(guard)
    if INTERNAL.search(shown):
        return GuardFact(
            "", "guard", event="a condition that torch checks internally failed (see the details)", expected=guard
        )
    return GuardFact("", "guard", event=f"guard `{shown}` failed", expected=guard)


def _of_text(guard: str) -> GuardFact | None:
    """Guards that torch tells in words, or in a form of its own."""
    if match := TENSOR.match(guard):
        return _tensor(match)
    if match := NOT_A_TENSOR.match(guard):
        after = "None" if match["after"] == "NoneType" else _short_type(match["after"])
        return _fact(match["name"], "type", before="a tensor", after=after)
    if match := CHECKED_TYPE.match(guard):
        return _fact(match["name"], "type", before=_short_type(match["type"]), expected=match["id"])
    if match := CHECKED_OBJECT.match(guard):
        return _identity(match["name"], _short_type(match["type"]), match["id"])
    if match := LENGTH_CHANGED.match(guard):
        return _fact(match["name"], "length", before=match["value"], expected=match["value"])
    if match := TYPE_CHANGED.match(guard):
        return _fact(match["name"], "type")
    if match := NOT_A_FUNCTION.match(guard):
        name = match["name"].partition(".__")[0]
        return _fact(name, "function", event="is no longer a Python function")
    if match := DEALLOCATED.match(guard):
        return _fact(match["name"], "identity", event="was deleted, and the version compiled for it with it")
    if match := DUPLICATES.match(guard):
        return _duplicates(match["names"])
    if match := OVERLAP.match(guard):
        return GuardFact("", "memory", event=f"memory that {_listed(match['names'].split(','))} share changed")
    if match := STATE.match(guard):
        what, words = state_fact_parts(match["what"])
        return GuardFact("", what, subject=words)
    if match := MARKED.match(guard):
        return GuardFact("", match["mark"], event=_marking(match["mark"], guard))
    if guard.lstrip("'\"").startswith("Shape guard failed"):
        return GuardFact("", "sizes", event="sizes do not satisfy the conditions of the compiled version")
    if match := UNREACHABLE.match(guard):
        return _fact(match["name"], "presence", event="no longer exists")
    for sign, subject, event in AMBIENT:
        if guard.startswith(sign):
            return GuardFact("", sign, subject=subject, event=event, expected=guard)
    return None


def _marking(mark: str, guard: str) -> str:
    """What was marked dynamic or static on a tensor, which torch does not name."""
    function = MODES.get(mark)
    if function is None:
        return "dimensions of a tensor are now marked (`mark_dynamic`, `mark_static`)"
    if "absent on runtime tensor" in guard:
        return f"dimensions of a tensor are no longer marked with {function}"
    if "should be absent" in guard:
        return f"dimensions of a tensor are now marked with {function}"
    return f"other dimensions of a tensor are marked with {function}"


def _of_expression(guard: str) -> GuardFact | None:
    """Guards that are Python expressions: comparisons, calls, ``not``, ``and``."""
    try:
        node: ast.expr = ast.parse(guard, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
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
        return _fact(ast.unparse(node), "length", before="0", expected="0")
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
        return _fact(arguments[0], f"attribute {attribute}", event=event, expected=str(not negated))
    return None


def _membership(owner: str, key: str, negated: bool, keyed: bool) -> GuardFact:
    now = "now has" if negated else "no longer has"
    if owner.endswith(".__dict__") and keyed:
        attribute = ast.literal_eval(key)
        event = f"{now} an attribute `{attribute}` of its own"
        return _fact(owner.removesuffix(".__dict__"), f"attribute {attribute}", event=event, expected=str(not negated))
    event = f"{now} key `{key}`" if keyed else ("now contains" if negated else "no longer contains") + f" `{key}`"
    return _fact(owner, f"key {key}", event=event, expected=str(not negated))


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
COUNTED = re.compile(
    r"^(?P<function>len|___tuple_iterator_len|___normalize_range_iter|___normalize_count_iter|___dict_version|str|int|float|bool|complex|list)"
    r"\((?P<name>.+)\)$"
)
# what a call around the value reads of it
READINGS = {
    "len": "length",
    "___tuple_iterator_len": "length",
    "___normalize_range_iter": "range",
    "___normalize_count_iter": "count",
    "___dict_version": "content",
}


def _compared(left: str, operator: str, right: str, right_node: ast.expr | None = None) -> GuardFact | None:
    expected = right if operator in ("==", "is") else f"{operator} {right}"
    if left.endswith(".keys())") and left.startswith("list("):
        return _fact(left.removeprefix("list(").removesuffix(".keys())"), "keys", before=right, expected=expected)
    if left.startswith("list(dict.keys(") and left.endswith("))"):
        return _fact(left.removeprefix("list(dict.keys(").removesuffix("))"), "keys", before=right, expected=expected)
    if left.endswith(".raw_repr()"):
        return _fact(left.removesuffix(".raw_repr()"), "dispatch keys")
    counted = COUNTED.match(left)
    if counted is not None and counted["function"] in READINGS:
        return _fact(counted["name"], READINGS[counted["function"]], before=right, expected=expected)
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
        fact = _of_value(value, f"{LESS[operator]} {right}")
        return replace(fact, expected=expected)
    if operator in ("!=", "is not"):
        event = "became" if value.dimension is None else ""
        words = _named(value)
        # it was anything but this, and now is
        return GuardFact(
            value.expression, value.what or "value", after=right, dimension=value.dimension,
            subject=words, event=f"{event or 'became'} {right}", expected=expected,
        )  # fmt: skip
    return replace(_of_value(value, right), expected=expected)


def _is_read(source: str) -> bool:
    """Whether ``source`` reads one value: a name, an attribute, an item, a call of a method."""
    try:
        node = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError):
        return True
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or (
        isinstance(node, ast.Call) and not _is_symbolic(node)
    )


def _is_symbolic(call: ast.Call) -> bool:
    """Whether it is a function of sympy's, ``Mod(x.size()[0], 2)``, rather than a method or one of torch's accessors."""
    return isinstance(call.func, ast.Name) and call.func.id[:1].isupper()


SIZED = re.compile(r"([A-Za-z_][\w.]*)\.(?:size|stride)\(\)")


def _related(value: GuardedValue, operator: str, other: GuardedValue, expected: str) -> GuardFact:
    """A condition between two values: ``y.size()[0] == x.size()[0]``, ``b is a``."""
    left, right = _named(value), _named(other)
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


def _named(value: GuardedValue) -> str:
    return f"{value.what} {value.dimension} of {value.words}" if value.dimension is not None else value.words


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
    return replace(_of_value(guarded_value(name.strip()), bounds), expected=f"in {bounds}")


def _of_value(value: GuardedValue, before: str) -> GuardFact:
    subject = "" if value.words == f"`{value.expression}`" else value.words
    return GuardFact(value.expression, value.what or "value", before=before, dimension=value.dimension, subject=subject)


def _fact(source: str, what: str, before: str = "", after: str = "", event: str = "", expected: str = "") -> GuardFact:
    value = guarded_value(source.strip())
    subject = "" if value.words == f"`{value.expression}`" else _named(value)
    return GuardFact(value.expression, what, before, after, event=event, subject=subject, expected=expected)


def _identity(source: str, kind: str, identity: str) -> GuardFact:
    owner = source.removesuffix(".__code__")
    word = KINDS.get(kind)
    if word is not None and owner.isidentifier():
        # a global keeps its scope in the text: this is a parameter or a local variable
        return GuardFact(
            owner,
            "identity",
            before=kind,
            event=f"is passed as `{owner}`",
            subject=f"another {word}",
            expected=identity,
        )
    if word is not None:
        return _fact(owner, "identity", before=kind, event=f"is another {word}", expected=identity)
    event = f"is another object of type `{kind}`" if kind else "is another object"
    return _fact(owner, "identity", before=kind, event=event, expected=identity)


def _duplicates(names: str) -> GuardFact:
    quoted = QUOTED.findall(names) or [names.partition(" should not alias")[0].strip().rstrip(",")]
    shown = [plain_source(name) for name in quoted if name]
    if len(shown) < 2:
        return GuardFact(shown[0] if shown else "", "aliasing", event="is the same tensor as another argument")
    return GuardFact(shown[0], "aliasing", event=f"is now the same tensor as {_listed(shown[1:])}")


def _listed(names: list[str]) -> str:
    shown = [f"`{plain_source(name.strip())}`" for name in names if name.strip()]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown) or "arguments"


def _tensor(match: re.Match[str]) -> GuardFact:
    values = EXPECTED.search(match["rest"])
    before = values["before"].strip() if values else ""
    after = (values["after"] or "").strip() if values else ""
    what = {"Tensor device index": "device index", "dispatch key set": "dispatch keys"}.get(
        match["what"], match["what"]
    )
    if what == "requires_grad" and before in ("0", "1"):
        # torch names the expected value alone; there are only two
        before, after = ("False", "True") if before == "0" else ("True", "False")
    index = match["index"]
    if what == "dtype":
        before, after = DTYPES.get(before, before), DTYPES.get(after, after)
    expected = before
    if what == "dispatch keys":
        before, after = _keys_that_differ(before, after)
    fact = _fact(match["name"], what, before, after, expected=expected)
    return replace(fact, dimension=int(index) if index is not None else None)


def _keys_that_differ(before: str, after: str) -> tuple[str, str]:
    """The part of two dispatch key sets that is not the same: ``CPU`` and ``SparseCPU``."""
    sides = [text.partition("(")[2].rstrip(")").split(", ") for text in (before, after)]
    own = [", ".join(key for key in sides[i] if key not in sides[1 - i]) for i in (0, 1)]
    return own[0] or "fewer", own[1] or "fewer"


def _short_type(name: str | None) -> str:
    return (name or "").rpartition(".")[2]
