"""Fixes that exclude what Dynamo cannot trace: run a function in eager, or let the graph call it without tracing it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.bound_names import bound_names
from compile_lens.fixes.rewrites.calls import function_of
from compile_lens.fixes.rewrites.editing import call_at, function_around, newline, torch_import, torch_name
from compile_lens.fixes.rewrites.fresh_values import fresh_values
from compile_lens.fixes.rewrites.regions import options_of, region_of
from compile_lens.shown_text import visible
from compile_lens.syntax.definitions import Definition
from compile_lens.syntax.regions import find_regions
from compile_lens.syntax.tree import Range, SourceTree, ancestors

_LONGEST_REASON = 60
# a statement that is a call, a global, or something of an object's
_EFFECT = re.compile(r"^[ \t]*(?:[\w.]+\(|global\b|nonlocal\b|\w[\w.]*\.\w+\s*[-+*/]?=[^=])", re.MULTILINE)
# a value that a function gives, or a statement that only a coroutine or generator has
_RESULT = re.compile(r"\breturn[ \t]*[^\s#]|\b(?:yield|await|nonlocal)\b")


def disable(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``torch.compiler.disable(reason=…)`` on the helper that breaks; around the call, where that is in the compiled function itself."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    torch, _ = torch_name(tree)
    helper = _helper(finding, tree)
    if helper is not None:
        line = f'@{torch}.compiler.disable(reason="{_reason(finding)}")'
        yield make(
            "disable",
            f"Exclude `{helper.name}` from compilation (`torch.compiler.disable`)",
            _above(tree, helper, line),
            torch_import(tree),
            kind=FixKind.EXCLUDE,
        )
        return
    call = call_at(tree, finding.place)
    function = call.child_by_field_name("function") if call is not None else None
    if function is None or function.type not in ("identifier", "attribute"):
        return
    text, above, around = tree.node_text(function), _top_level(tree, function), function_around(function)
    root = function
    while root.type in ("attribute", "call", "subscript") and root.named_children:
        root = root.named_children[0]
    if above is None or around is None or "\n" in text or tree.node_text(root) in bound_names(tree, around):
        return
    name, end = f"{text.rpartition('.')[2]}_eagerly", newline(tree)
    made = f'{name} = {torch}.compiler.disable({text}, reason="{_reason(finding)}")'
    added = Edit(Range(above, 1, above, 1), f"{made}{end}{end}{end}")
    called = Edit(tree.node_range(function), name)
    yield make(
        "disable",
        f"Exclude `{text}` from compilation (`torch.compiler.disable`)",
        added,
        called,
        torch_import(tree),
        kind=FixKind.EXCLUDE,
    )


def _top_level(tree: SourceTree, node: tree_sitter.Node) -> int | None:
    """The line of the statement at the top level that holds a node; None when it shares that line."""
    top = list(ancestors(node))[-2:]
    line, column = tree.position(top[0].start_byte)
    return line if column == 1 else None


def opaque(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``allow_in_graph``, and the beginning of a custom operator, for the helper that breaks."""
    helper = _helper(finding, tree) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    if helper is None or "." in helper.qualified_name:
        return
    torch, _ = torch_name(tree)
    # those of torch are operators of the graph; another one would be a constant of it
    if all(name.startswith("torch.") for name in fresh_values(tree, helper)):
        yield from _traced_once(tree, helper, torch)
    yield from _custom_op(tree, helper, torch)


def _traced_once(tree: SourceTree, helper: Definition, torch: str) -> Iterator[Fix]:
    # AOTAutograd traces it once: what it does but for computing is done while compiling alone
    does_more = _EFFECT.search(_body(tree, helper)) is not None
    kind, lost = (FixKind.LOSSY, "; its side effects happen once") if does_more else (FixKind.CHANGE, "")
    allowed = _above(tree, helper, f"@{torch}.compiler.allow_in_graph")
    yield make(
        "allow-in-graph",
        f"Call `{helper.name}` in the graph without tracing it (`allow_in_graph`){lost}",
        allowed,
        torch_import(tree),
        kind=kind,
    )
    traced = _above(tree, helper, f"@{torch}._dynamo.nonstrict_trace")
    yield make(
        "nonstrict-trace",
        f"Trace `{helper.name}` below Dynamo (`nonstrict_trace`){lost}",
        traced,
        torch_import(tree),
        kind=kind,
    )


def leaf(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``leaf_function`` (torch 2.11) for a helper that returns nothing: the graph calls it each time, and nothing is to complete."""
    helper = _helper(finding, tree) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    if helper is None or "." in helper.qualified_name or helper.decorators or not helper.parameters:
        return
    region = region_of(finding, tree)
    if region is None or not _is_without_inductor(options_of(tree, region)[1]):
        return
    if _RESULT.search(_body(tree, helper)):
        return
    torch, _ = torch_name(tree)
    names = ", ".join(parameter.name for parameter in helper.parameters)
    fake = [f"@{helper.name}.register_fake", f"def _({names}):", "    pass"]
    yield make(
        "leaf-function",
        f"Call `{helper.name}` from the graph as it is (`leaf_function`)",
        _above(tree, helper, f"@{torch}._dynamo.decorators.leaf_function"),
        _below(tree, helper, fake),
        torch_import(tree),
    )


def _is_without_inductor(options: list[str]) -> bool:
    """Whether a region names another backend: Inductor does not compile calls of leaf functions (torch 2.13)."""
    backends = [option.partition("=")[2].strip("'\"") for option in options if option.startswith("backend=")]
    return bool(backends) and "inductor" not in backends


def _custom_op(tree: SourceTree, helper: Definition, torch: str) -> Iterator[Fix]:
    if not helper.parameters or helper.decorators:
        return
    tensor = f"{torch}.Tensor"
    above = _above(tree, helper, f'@{torch}.library.custom_op("mine::{helper.name}", mutates_args=())')
    types: list[Edit | None] = []
    for parameter in helper.parameters:
        if not parameter.annotation and not parameter.default:
            place = Range(
                parameter.place.end_line,
                parameter.place.end_column,
                parameter.place.end_line,
                parameter.place.end_column,
            )
            types.append(Edit(place, f": {tensor}"))
    header = re.compile(r"\)\s*:").search(tree.line_text(helper.def_line), helper.name_place.end_column - 1)
    if header is not None:
        types.append(
            Edit(Range(helper.def_line, header.start() + 2, helper.def_line, header.start() + 2), f" -> {tensor}")
        )
    elif "->" not in tree.line_text(helper.def_line):
        return
    names = ", ".join(parameter.name for parameter in helper.parameters)
    first = helper.parameters[0].name
    fake = [
        f"@{helper.name}.register_fake",
        f"def _({names}):",
        f"    return {torch}.empty_like({first})  # the shape of what {helper.name} returns",
    ]
    title = f"Make `{helper.name}` a custom operator (skeleton)"
    yield make("custom-op", title, above, *types, _below(tree, helper, fake), torch_import(tree), kind=FixKind.SKELETON)


def _helper(finding: Finding, tree: SourceTree) -> Definition | None:
    """The function that a finding stands in, if it is not itself what is compiled."""
    function = function_of(finding, tree)
    if function is None or function.name in ("forward", "__call__", "__init__"):
        return None
    for region in find_regions(tree):
        if region.target_line is not None and region.target_line <= function.def_line <= (region.target_end_line or 0):
            return None
    return function


def _above(tree: SourceTree, function: Definition, decorator: str) -> Edit:
    text = tree.line_text(function.first_line)
    indent = text[: len(text) - len(text.lstrip())]
    return Edit(Range(function.first_line, 1, function.first_line, 1), f"{indent}{decorator}{newline(tree)}")


def _body(tree: SourceTree, function: Definition) -> str:
    """The lines below the first one of a function."""
    return "\n".join(tree.line_text(line) for line in range(function.def_line + 1, function.last_line + 1))


def _below(tree: SourceTree, function: Definition, lines: list[str]) -> Edit:
    """``lines`` two blank lines below a function."""
    end, last = newline(tree), function.last_line
    text = f"{end}{end}" + end.join(lines) + end
    if last + 1 > len(tree.lines):
        column = len(tree.lines[-1]) + 1
        return Edit(Range(last, column, last, column), end + text)
    return Edit(Range(last + 1, 1, last + 1, 1), text)


def _reason(finding: Finding) -> str:
    text = finding.message.removeprefix("Graph break: ").partition(";")[0].rstrip(".")
    return re.sub(r'["\\\r\n]', "'", visible(text))[:_LONGEST_REASON]
