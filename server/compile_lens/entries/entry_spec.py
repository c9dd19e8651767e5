"""Reads entries as users write them: in ``--entry``, in the setting, in the comment."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from compile_lens.agent.runtime.entry_plans import (
    CompileAt,
    DoctestExamples,
    SynthesizedCalls,
    WrittenCall,
)
from compile_lens.agent.runtime.regular_file import is_file, read_regular_text
from compile_lens.entries.call_grammar import dotted_name
from compile_lens.entries.entry import (
    MODEL,
    SCRIPT,
    SYNTHESIZED,
    Entry,
    EntryKind,
    canonical_spec,
    model_of_script,
    script,
)
from compile_lens.entries.importers import WorkspaceFile, script_plan, test_plan
from compile_lens.entries.targets import Target, find_targets, target_named
from compile_lens.late_pattern import pattern
from compile_lens.shown_text import one_line
from compile_lens.syntax.foreign_texts import parse_expression
from compile_lens.syntax.regions import find_regions
from compile_lens.syntax.tree import SourceTree, parse

FORMS = (
    "script; the name of a function or variable with inputs; doctest:NAME; a test as FILE::TEST; another FILE.py; "
    "model; example:README.md; recorded; synthesized or synthesized:NAME; a call such as Block(dim=64)(float32[2, 16, 64])"
)
_FIRST = pattern(r"\s*(?:\(\s*\w+\s*:=\s*)?([A-Za-z_][\w.]*)\s*\(")
CALLS = (
    "`Block(dim=64)(float32[2, 16, 64])`, `Block(dim=64).encode(x=float32[2, 16])`, `loss(float32[2], float32[2])`, "
    "`(m := Block(dim=64), m.setup(rows=4))[0](x=float32[2, 16])` or `(lambda: fit(Block(dim=64)))()`"
)


class BadEntry(Exception):
    """A spec is not an entry of the file; the text is one sentence for the user."""


def read_entry(spec: str, origin: str, file: str, tree: SourceTree, found: Sequence[Entry]) -> Entry:
    """The entry that ``spec`` names for ``file``. ``found`` are the entries that were found. Raises BadEntry."""
    spec = canonical_spec(spec)
    if spec == SCRIPT:
        return script(origin)
    if spec == MODEL:
        return model_of_script(origin)
    known = next((entry for entry in found if spec in (entry.spec, f"{entry.spec}()")), None)
    if known is not None:
        return Entry(known.kind, known.spec, origin, known.line, known.plan)
    path, _, test = spec.partition("::")
    if path.endswith(".py"):
        return _of_file(path, test, origin, file, find_targets(tree))
    kind, _, name = spec.partition(":")
    if kind == "doctest" and (name == "" or name.replace(".", "").isidentifier()):
        return Entry(EntryKind.DOCTEST, spec, origin, 0, DoctestExamples(name))
    if kind == SYNTHESIZED:
        return _read_synthesized(name, origin, tree)
    if "(" in spec:
        return Entry(EntryKind.CALL, spec, origin, 0, WrittenCall(spec, _compile_of(_called_in(spec), tree)))
    raise BadEntry(f"{Path(file).name} has no entry '{spec}'. An entry is one of: {FORMS}.")


def _called_in(spec: str) -> str:
    """The name of the class or function that the call ``spec`` is about: the first that is called in it, '' for none. Raises BadEntry."""
    try:
        call = parse_expression(spec.strip())
    except (SyntaxError, RecursionError) as problem:
        why = getattr(problem, "msg", None) or "it is nested too deeply"
        raise BadEntry(
            f"'{one_line(spec)}' is not a Python expression ({why}). A call has a form such as {CALLS}."
        ) from None
    if not isinstance(call, ast.Call):
        raise BadEntry(f"'{one_line(spec)}' does not end with a call. A call has a form such as {CALLS}.")
    made = _FIRST.match(spec)
    named = (dotted_name(node.func) for node in ast.walk(call) if isinstance(node, ast.Call))
    return made[1] if made is not None else next(filter(None, named), "")


def _of_file(path: str, test: str, origin: str, file: str, targets: tuple[Target, ...]) -> Entry:
    full = Path(path) if Path(path).is_absolute() else _above(path, file)
    if full is None or not is_file(full):
        raise BadEntry(f"{path}: no such file in the folder of {Path(file).name} or above it.")
    try:
        other = WorkspaceFile(str(full), parse(read_regular_text(full)))
    except OSError as problem:
        raise BadEntry(f"{path} cannot be read: {problem.strerror}.") from None
    if test:
        return Entry(EntryKind.TEST, f"{path}::{test}", origin, 0, test_plan(other, test, targets))
    return Entry(EntryKind.FILE, path, origin, 0, script_plan(other, targets))


def _above(path: str, file: str) -> Path | None:
    """``path`` relative to the nearest folder above ``file`` that has it."""
    return next((folder / path for folder in Path(file).parents if is_file(folder / path)), None)


def _read_synthesized(name: str, origin: str, tree: SourceTree) -> Entry:
    if not name:
        return synthesized(find_targets(tree), origin)
    target = next((t for t in find_targets(tree) if t.name == name), None) or target_named(tree, name)
    if target is None:
        raise BadEntry(f"The file defines no class or function '{name}' at its top level.")
    return synthesized((target,), origin, f"{SYNTHESIZED}:{name}")


def synthesized(targets: tuple[Target, ...], origin: str, spec: str = SYNTHESIZED) -> Entry:
    """The entry that synthesizes inputs for ``targets``."""
    has_regions = any(target.is_region for target in targets)
    line = targets[0].line if targets else 0
    plan = SynthesizedCalls(tuple(target.plan for target in targets), apart=not has_regions)
    return Entry(EntryKind.SYNTHESIZED, spec, origin, line, plan)


def _compile_of(name: str, tree: SourceTree) -> CompileAt | None:
    """How the target of a call is compiled; None where the file compiles it itself."""
    regions = find_regions(tree)
    targets = find_targets(tree, regions)
    target = next((t for t in targets if name in (t.name, t.name.partition(".")[0])), None) or target_named(tree, name)
    return target.plan.compile if target is not None else CompileAt()
