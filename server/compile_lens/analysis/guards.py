"""Reads a guard: which value it is about, what about it, and what it was before and after.

The texts are those of torch/_dynamo/guards.py and torch/csrc/dynamo/guards.cpp (torch 2.6 to 2.13).
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec.structs import replace

from compile_lens.analysis.global_state import state_fact_parts
from compile_lens.analysis.guard_expressions import fact_of_expression
from compile_lens.analysis.guard_facts import GuardFact, fact_about, fact_of_length
from compile_lens.analysis.guard_sources import INTERNAL, plain_source
from compile_lens.late_pattern import pattern
from compile_lens.trace.report import GuardFailure

TENSOR = pattern(
    r"^tensor '(?P<name>.+?)' (?P<what>[\w ]+?)(?: mismatch)?(?: at index (?P<index>\d{1,9}))?\. (?P<rest>.*)$",
    re.DOTALL,
)
EXPECTED = pattern(r"xpected (?:\w+=|device index to be )?(?P<before>.+?)(?:, actual (?P<after>.+?))?\.?$", re.DOTALL)
NOT_A_TENSOR = pattern(
    r"^expected type of '(?P<name>.+?)' to be (?:a tensor type, )?.*?'? but found (?:<class ')?(?P<after>[^'>]+)"
)
CHECKED_TYPE = pattern(
    r"^___check_(?:type_id|fake_script_type)\((?P<name>.+), (?P<id>\d+)\)(?:, type=<class '(?P<type>[^']+)'>)?"
)
CHECKED_OBJECT = pattern(r"^___check_obj_id\((?P<name>.+), (?P<id>\d+)\)(?:, type=<class '(?P<type>[^']+)'>)?")
LENGTH_CHANGED = pattern(r"^len\((?P<name>.+)\) != (?P<value>\d+)$")
TYPE_CHANGED = pattern(r"^TYPE_MISMATCH\((?P<name>.+)\)$")
NOT_A_FUNCTION = pattern(r"^\w+Accessor: Not a function on (?P<name>.+)$")
UNREACHABLE = pattern(
    r"^(?:KeyError on|IndexError on|getattr failed on source|null type dict on|Not a callable obj|Not a weakref(?: obj)?"
    r"|Weakref_GetRef failed|Expected type .*? on|not a tensor - grad field is accessed) ?(?P<name>.+)$"
)
DEALLOCATED = pattern(r"^Cache line invalidated because (?P<name>.+) got deallocated$")
DUPLICATES = pattern(r"^Duplicate tensors? found(?: where not expected!)?:? ?(?P<names>.*)$")
QUOTED = pattern(r"['\"]([^'\"]+)['\"]")
STATE = pattern(r"^(?:GLOBAL_STATE changed: ?|___check_global_state\(\))(?P<what>.*)$", re.DOTALL)
MARKED = pattern(r"^(?P<mark>_dynamo_\w+|_has_dynamo_dim_marking)\b")
OVERLAP = pattern(r"^check_overlapping\(overlapping=\[(?P<names>.*)\], non_overlapping=")

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


# several threads that compile the same function leave torch without one
NO_REASON = GuardFact("", "", event="torch gives no reason (calls from several threads?)")


def read_guard(failure: GuardFailure) -> GuardFact:
    """The fact behind ``failure``; a guard of an unknown form keeps its own text."""
    return _read(failure.guard.strip(), failure.hint)


@lru_cache(maxsize=4096)  # a long run says the same again and again
def _read(guard: str, hint: str) -> GuardFact:
    if not guard:
        return NO_REASON
    if ".cell_contents" in guard and (captured := CAPTURED.search(hint)) is not None:
        # torch names the variable that a closure captures beside its expression (torch 2.12)
        guard = _with_captured(guard, captured["name"])
    return _of_text(guard) or fact_of_expression(guard) or _unread(guard)


CAPTURED = pattern(r'guard on "(?P<name>\w+)"')
CELL = pattern(r"\.__closure__\[\d+\]\.cell_contents")


def _with_captured(guard: str, name: str) -> str:
    """``guard`` with ``name`` instead of what leads to the variable: ``hooks[list(dict.keys(hooks))[0]].__closure__[1].cell_contents``."""
    cell = CELL.search(guard)
    if cell is None:
        return guard
    begin, depth = cell.start(), 0
    while begin and (
        depth or guard[begin - 1] in ")]'." or guard[begin - 1].isidentifier() or guard[begin - 1].isdecimal()
    ):
        begin -= 1
        depth += (guard[begin] in ")]") - (guard[begin] in "([")
    return f"{guard[:begin]}{name}{guard[cell.end() :]}"


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
        return fact_about(match["name"], "type", before="a tensor", after=after)
    if match := CHECKED_TYPE.match(guard):
        return fact_about(match["name"], "type", before=_short_type(match["type"]), expected=match["id"])
    if match := CHECKED_OBJECT.match(guard):
        return _identity(match["name"], _short_type(match["type"]), match["id"])
    if match := LENGTH_CHANGED.match(guard):
        return fact_of_length(match["name"], match["value"], match["value"])
    if match := TYPE_CHANGED.match(guard):
        return fact_about(match["name"], "type")
    if match := NOT_A_FUNCTION.match(guard):
        name = match["name"].partition(".__")[0]
        return fact_about(name, "function", event="is no longer a Python function")
    if match := DEALLOCATED.match(guard):
        return fact_about(match["name"], "identity", event="was deleted, which invalidated the version compiled for it")
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
        return fact_about(match["name"], "presence", event="no longer exists")
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
        return fact_about(owner, "identity", before=kind, event=f"is another {word}", expected=identity)
    event = f"is another object of type `{kind}`" if kind else "is another object"
    return fact_about(owner, "identity", before=kind, event=event, expected=identity)


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
    index = match["index"]
    return fact_of_tensor(match["name"], match["what"], before, after, int(index) if index is not None else None)


def fact_of_tensor(name: str, what: str, before: str, after: str, dimension: int | None = None) -> GuardFact:
    """What torch checks of the tensor that it calls ``name``, with its words for the property and its values."""
    what = {"Tensor device index": "device index", "dispatch key set": "dispatch keys"}.get(what, what)
    if what == "requires_grad" and before in ("0", "1"):
        # torch names the expected value alone; there are only two
        before, after = ("False", "True") if before == "0" else ("True", "False")
    if what == "dtype":
        before, after = DTYPES.get(before, before), DTYPES.get(after, after)
    expected = before
    if what == "dispatch keys":
        before, after = _keys_that_differ(before, after)
    return replace(fact_about(name, what, before, after, expected=expected), dimension=dimension)


def _keys_that_differ(before: str, after: str) -> tuple[str, str]:
    """The part of two dispatch key sets that is not the same: ``CPU`` and ``SparseCPU``."""
    sides = [text.partition("(")[2].rstrip(")").split(", ") for text in (before, after)]
    own = [", ".join(key for key in sides[i] if key not in sides[1 - i]) for i in (0, 1)]
    return own[0] or "fewer", own[1] or "fewer"


def _short_type(name: str | None) -> str:
    return (name or "").rpartition(".")[2]
