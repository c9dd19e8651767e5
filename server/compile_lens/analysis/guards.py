"""Reads a failed guard: which value changed, what about it, and what it was before and after.

The texts are those of torch/_dynamo/guards.py and torch/csrc/dynamo/guards.cpp (torch 2.6 to 2.13).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from compile_lens.trace.report import GuardFailure

TENSOR = re.compile(
    r"^tensor '(?P<name>.+?)' (?P<what>.+?)(?: mismatch)?(?: at index (?P<index>\d+))?\. (?P<rest>.*)$", re.DOTALL
)
EXPECTED = re.compile(r"expected (?:\w+=)?(?P<before>.+?)(?:, actual (?P<after>.+?))?\.?$", re.DOTALL)
COMPARED = re.compile(r"^(?P<name>[^=<>!]+?) (?P<operator>==|is|is not|!=) (?P<value>.+)$")
TYPE = re.compile(r"^___check_type_id\((?P<name>.+?), \d+\)(?:, type=<class '(?P<type>[^']+)'>)?")
OBJECT = re.compile(r"^___check_obj_id\((?P<name>.+?), \d+\)(?:, type=<class '(?P<type>[^']+)'>)?")
NOT_A_TENSOR = re.compile(
    r"^expected type of '(?P<name>.+?)' to be a tensor type, ' but found <class '(?P<after>[^']+)'>"
)
LENGTH = re.compile(r"^len\((?P<name>.+?)\) == (?P<value>\d+)$")
CONTAINS = re.compile(r"^(?:not )?___dict_contains\((?P<key>.+?), (?P<name>[^,()]+)\)$")
# nn.Module's own tables: the user writes the attribute
MODULE_TABLE = re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]")
WRAPPED = re.compile(r"\b(?:L|G)\['(\w+)'\]")
ROOT = re.compile(r"[A-Za-z_]\w*")
# the last attribute or subscript of an expression
LAST_STEP = re.compile(r"(?:\.\w+|\[[^\[\]]*\])$")
# a size, and a range of sizes: "2 <= x.size()[0] <= 512"
SIZE = re.compile(r"^(?P<name>.+)\.(?:size|shape)(?:\(\))?\[(?P<index>\d+)\]$")
RANGE = re.compile(r"^(?:(?P<low>\d+) <= )?(?P<name>[^<>=]+?)(?: <= (?P<high>\d+))?$")
STATE = re.compile(r"^(?:GLOBAL_STATE changed: |___check_global_state\(\))(?P<what>.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class GuardFact:
    """One failed guard in plain terms.

    ``name`` is the guarded expression as the user writes it (``x``, ``self.calls``), or ''. ``what`` is its property that changed
    (``size``, ``dtype``, ``value``), ``dimension`` that of a size or stride. ``before`` and ``after`` are '' where torch does not say.
    ``event`` is what happened to ``name``, where "… changed" does not say it.
    """

    name: str
    what: str
    before: str = ""
    after: str = ""
    dimension: int | None = None
    event: str = ""

    @property
    def root(self) -> str:
        """The variable that the expression starts from: ``self`` of ``self.calls``."""
        match = ROOT.match(self.name)
        return match[0] if match else ""

    @property
    def expressions(self) -> tuple[str, ...]:
        """``name`` and what it is part of, longest first: ``self.dropout.training``, ``self.dropout``; the variable alone is ``root``."""
        found = []
        name = self.name
        while LAST_STEP.search(name):
            found.append(name)
            name = LAST_STEP.sub("", name)
        return tuple(found) or (self.name,)


# several threads that compile the same function leave torch without one
NO_REASON = GuardFact("", "", event="torch gives no reason (calls from several threads?)")


def read_guard(failure: GuardFailure) -> GuardFact:
    """The fact behind ``failure``; a guard of an unknown form keeps its own text."""
    guard = plain_source(failure.guard.strip())
    if match := TENSOR.match(guard):
        return _tensor(match)
    if match := NOT_A_TENSOR.match(guard):
        after = "None" if match["after"] == "NoneType" else _short_type(match["after"])
        return GuardFact(match["name"], "type", before="a tensor", after=after)
    if match := TYPE.match(guard):
        return GuardFact(match["name"], "type", before=_short_type(match["type"]))
    if match := OBJECT.match(guard):
        kind = _short_type(match["type"])
        event = f"is another object of type `{kind}`" if kind else "is another object"
        return GuardFact(match["name"], "identity", before=kind, event=event)
    if match := LENGTH.match(guard):
        return GuardFact(match["name"], "length", before=match["value"])
    if match := CONTAINS.match(guard):
        event = f"now has key `{match['key']}`" if guard.startswith("not ") else f"no longer has key `{match['key']}`"
        return GuardFact(match["name"].strip(), "keys", event=event)
    if match := STATE.match(guard):
        return GuardFact("", (match["what"].strip() or "global state").replace("_", " "))
    if match := COMPARED.match(guard):
        before = match["value"] if match["operator"] in ("==", "is") else f"not {match['value']}"
        name, dimension = sized(match["name"].strip())
        return GuardFact(name, "value" if dimension is None else "size", before=before, dimension=dimension)
    if (match := RANGE.match(guard)) and (match["low"] or match["high"]):
        name, dimension = sized(match["name"].strip())
        bounds = f"{match['low'] or 0} to {match['high']}" if match["high"] else f"{match['low']} or more"
        return GuardFact(name, "value" if dimension is None else "size", before=bounds, dimension=dimension)
    return GuardFact("", "guard", event=f"guard `{guard}` failed") if guard else NO_REASON


def plain_source(expression: str) -> str:
    """``self.up.weight`` for ``L['self']._modules['up']._parameters['weight']``: an expression of Dynamo's as the user writes it."""
    return MODULE_TABLE.sub(r".\1", WRAPPED.sub(r"\1", expression))


def sized(expression: str) -> tuple[str, int | None]:
    """``x`` and 0 for ``L['x'].size()[0]``; any other expression as the user writes it, and None."""
    plain = plain_source(expression)
    match = SIZE.match(plain)
    return (match["name"], int(match["index"])) if match else (plain, None)


def named_size(source: str) -> str:
    """``size 0 of `x` `` for ``L['x'].size()[0]``; another value by its name."""
    name, dimension = sized(source)
    return f"`{name}`" if dimension is None else f"size {dimension} of `{name}`"


def _tensor(match: re.Match[str]) -> GuardFact:
    values = EXPECTED.search(match["rest"])
    before = values["before"].strip() if values else ""
    after = (values["after"] or "").strip() if values else ""
    what = match["what"]
    if what == "requires_grad" and before in ("0", "1"):
        # torch names the expected value alone; there are only two
        before, after = ("False", "True") if before == "0" else ("True", "False")
    index = match["index"]
    return GuardFact(match["name"], what, before, after, int(index) if index is not None else None)


def _short_type(name: str | None) -> str:
    return (name or "").rpartition(".")[2]
