"""Finds side effects: changes to Python objects in traced code, which Dynamo replays after the graph has run."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.guard_sources import WRAPPED, guarded_value, plain_source
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern
from compile_lens.syntax.narrow import changed_at, is_own_variable
from compile_lens.trace.report import SideEffect, StackFrame

CODE = "side-effect"
# objects that do not exist outside the graph
INTERNAL = ("created in torch.compile region", "no source")
# of a cell that torch 2.11 cannot name: a generator inside of a function uses a variable of it
UNKNOWN = "<unknown type>"
# of a variable that a comprehension, a generator or an inner function uses
CELL = "cell"
# what assigns an attribute of a module where Dynamo traces through it (torch 2.11): the line that assigns is the caller's
SETTER = pattern(r"[/\\]torch[/\\]nn[/\\]modules[/\\]module\.py$")


def find_side_effects(context: RunContext) -> Iterator[Finding]:
    """One finding per line of the user's that changes an object; what libraries change is left out."""
    report, sources = context.report, context.sources
    groups: dict[Place, list[SideEffect]] = {}
    callers = {c.compile_id: {(f.file, f.line) for f in c.call_stack} for c in report.compilations}
    for effect in report.side_effects:
        line = _changing(effect.stack)
        # what Dynamo sets up before the first line of a function (its cells) has the stack of the call
        before = (line.file, line.line) in callers.get(effect.compile_id, ())
        is_known = effect.source not in INTERNAL and effect.type != UNKNOWN
        if sources.is_own(line.file) and is_known and not before and not _is_new(effect, line, sources):
            groups.setdefault(_place(effect, line, sources), []).append(effect)
    for place, effects in groups.items():
        first = effects[0]
        yield Finding(
            code=CODE,
            kind=Kind.SIDE_EFFECT,
            severity=Severity.HINT,
            message=f"Side effect: this line changes {_named(first)}; Dynamo replays the change after the graph has run.",
            place=place,
            explanation=(
                "The change is not part of the graph. Code that reads the object while the graph runs (a hook, another thread) sees the old"
                " value."
            ),
            count=len(effects),
            frames=tuple(dict.fromkeys(effect.compile_id for effect in effects)),
            call_path=call_path(first.stack, sources),
        )


def _named(effect: SideEffect) -> str:
    if effect.type == CELL and effect.source.isidentifier():
        return f"`{effect.source}`, a variable of a function around this one"
    words = guarded_value(effect.source).words if WRAPPED.search(effect.source) else ""
    return f"{words} (a `{effect.type}`)" if words else f"a `{effect.type}`"


def _is_new(effect: SideEffect, line: StackFrame, sources: Sources) -> bool:
    """Whether what changes is a variable that the function makes anew in each call."""
    tree = sources.tree_of(line.file) if effect.type == CELL else None
    return tree is not None and is_own_variable(tree, line.line, effect.source)


def _place(effect: SideEffect, line: StackFrame, sources: Sources) -> Place:
    """The call or assignment that changes the object, else the line."""
    tree = sources.tree_of(line.file)
    name = plain_source(effect.source) if WRAPPED.search(effect.source) else ""
    found = changed_at(tree, line.line, name) if tree is not None else None
    return (
        Place(line.file, found.line, found.column, found.end_line, found.end_column) if found else sources.line_of(line)
    )


def _changing(stack: tuple[StackFrame, ...]) -> StackFrame:
    """The line that changes the object."""
    inner = stack[-1]
    is_setter = inner.name == "__setattr__" and SETTER.search(inner.file) is not None
    return stack[-2] if is_setter and len(stack) > 1 else inner
