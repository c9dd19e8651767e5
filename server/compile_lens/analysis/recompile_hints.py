"""Says what to do about a recompile, where something is known to help. Each hint is tried on a program in tests/analysis/test_hints.py."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.guard_facts import GuardFact
from compile_lens.analysis.guard_sources import guarded_value
from compile_lens.analysis.recompile_causes import Cause
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import Definition, definition_at
from compile_lens.syntax.tree import SourceTree
from compile_lens.trace.report import Compilation, CompileReport

NUMBER = pattern(r"^-?\d+(?:\.\d+)?(?:e-?\d+)?$")
# torch's words that are no hints: they repeat the guard (torch/_dynamo/guards.py)
NOT_A_HINT = pattern(r"^type \S+$|^guard on |^\[inline-inbuilt")
PARAMETERS = "force_parameter_static_shapes"
# an array becomes a tensor inside of the compiled function only
ARRAY = "___from_numpy("
ALWAYS_SPECIALIZED = "torch always specializes on sizes 0 and 1: avoid such a call (`drop_last=True`), or pad it."
RAISE_LIMIT = (
    "If you need this many versions, raise `torch._dynamo.config.recompile_limit` (`cache_size_limit` before torch 2.7)."
    " Each version costs a compilation."
)


def hints_for(
    causes: list[tuple[Compilation, Cause]], report: CompileReport, sources: Sources, limited: bool
) -> tuple[str, ...]:
    """What helps against recompiles of one cause, without repetition."""
    found = [hint for compilation, cause in causes for hint in _hints(compilation, cause, report, sources)]
    if limited:
        found.append(RAISE_LIMIT)
    return tuple(dict.fromkeys(found))


def _hints(compilation: Compilation, cause: Cause, report: CompileReport, sources: Sources) -> Iterator[str]:
    fact, torchs = cause.fact, cause.failure.hint
    tree = sources.tree_of(compilation.file)
    definition = definition_at(tree, compilation.line) if tree is not None else None
    if PARAMETERS in torchs and fact.what == "size":
        # torch says so of any guard on a parameter; those of a module stay static (torch 2.13)
        if _is_parameter(compilation, fact, definition):
            yield f"Set `{torchs}`, and compile with `dynamic=True`: sizes of parameters are static by default."
        return
    if torchs and PARAMETERS not in torchs and not NOT_A_HINT.search(torchs):
        yield torchs
        return
    if fact.what == "size" and fact.dimension is not None and not fact.event:
        is_tensor = ARRAY not in cause.failure.guard
        yield from _for_size(compilation, cause, report, is_tensor and _is_parameter(compilation, fact, definition))
    elif fact.what == "stride" and _is_parameter(compilation, fact, definition):
        yield f"Pass `{fact.name}.contiguous()`: each memory layout is compiled separately."
    elif fact.what == "length" and _is_parameter(compilation, fact, definition):
        yield f"Pass `{fact.name}` with the same number of items in every call: each number is compiled separately."
    elif fact.what == "requires_grad":
        yield f"Use the same `requires_grad` for {fact.subject or f'`{fact.name}`'} in every call: each setting is compiled separately."
    elif _is_number(fact) and definition is not None and _is_only_calculated_with(tree, definition, fact.name):
        if _is_parameter(compilation, fact, definition):
            yield f"Pass `{fact.name}` as a tensor if it changes from call to call: Dynamo specializes on Python numbers."
        else:
            yield f"Make `{fact.name}` a tensor if it changes from call to call: Dynamo specializes on Python numbers."


def _is_number(fact: GuardFact) -> bool:
    return fact.what == "value" and not fact.subject and NUMBER.match(fact.before) is not None


def _for_size(compilation: Compilation, cause: Cause, report: CompileReport, is_parameter: bool) -> Iterator[str]:
    fact = cause.fact
    if {fact.before, fact.after} & {"0", "1"}:
        yield ALWAYS_SPECIALIZED
    elif cause.stays_dynamic and not _is_fixed(compilation, fact, report):
        if is_parameter:
            yield (
                f"Mark dimension {fact.dimension} dynamic before the first call:"
                f" `torch._dynamo.mark_dynamic({fact.name}, {fact.dimension})`. Or compile with `dynamic=True`."
            )
        else:
            yield "Compile with `dynamic=True`."


def _is_fixed(compilation: Compilation, fact: GuardFact, report: CompileReport) -> bool:
    """Whether something in the program needs the number: a weight of this size, an ``int(…)``."""
    frame = compilation.compile_id.rpartition("/")[0]
    return any(
        one.compile_id.rpartition("/")[0] == frame and _names(source, fact)
        for one in report.specializations
        for source in one.sources
    )


def _names(source: str, fact: GuardFact) -> bool:
    value = guarded_value(source)
    return (value.expression, value.dimension) == (fact.name, fact.dimension)


def _is_parameter(compilation: Compilation, fact: GuardFact, definition: Definition | None) -> bool:
    """Whether the caller passes it: a local variable of a resume function may be an intermediate result."""
    if definition is None or compilation.resume_of is not None:
        return False
    return fact.name in {parameter.name for parameter in definition.parameters}


def _is_only_calculated_with(tree: SourceTree | None, definition: Definition, name: str) -> bool:
    """Whether each use of ``name`` in the function is an operand of ``+``, ``*`` and the like: a tensor can take its place."""
    if tree is None:
        return False
    uses = list(_named(tree, tree.root, definition, name))
    return bool(uses) and all(node.parent is not None and node.parent.type == "binary_operator" for node in uses)


def _named(tree: SourceTree, node: tree_sitter.Node, definition: Definition, name: str) -> Iterator[tree_sitter.Node]:
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    if last < definition.def_line or first > definition.last_line:
        return
    in_body = definition.def_line <= first and node.type in ("identifier", "attribute")
    if in_body and tree.node_text(node) == name:
        if node.parent is None or node.parent.type not in ("parameters", "default_parameter", "typed_parameter"):
            yield node
        return
    for child in node.named_children:
        yield from _named(tree, child, definition, name)
