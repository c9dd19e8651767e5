"""Fixes that make calls alike: arguments with the same layout and dtype, and one setting of torch for all calls.

An argument is never detached: what made it may need the gradient, and that is no result of a compiled region.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.guard_facts import GuardFact
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.editing import below_imports, newline, remove_statement, replace_node, torch_name
from compile_lens.fixes.rewrites.evidence import changed
from compile_lens.fixes.rewrites.regions import call_of, region_of
from compile_lens.syntax.regions import RegionKind
from compile_lens.syntax.tree import Query, Range, SourceTree

_RECOMPILES = (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)
_ATOMS = frozenset({"identifier", "call", "attribute", "subscript"})
_INFERENCE_MODES = Query("(call function: (attribute) @name)")
_DTYPES = frozenset({"float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"})
# statements that set what GLOBAL_STATE guards (torch/csrc/dynamo/guards.cpp)
_SETTINGS = {
    "deterministic_algorithms": re.compile(r"\.use_deterministic_algorithms\("),
    "allow_tf32": re.compile(r"\.set_float32_matmul_precision\(|\.allow_tf32 ="),
    "allow_fp16_reduce": re.compile(r"\.allow_fp16_reduced_precision_reduction ="),
    "allow_bf16_reduce": re.compile(r"\.allow_bf16_reduced_precision_reduction ="),
    "num_threads": re.compile(r"\.set_num_threads\("),
    "default_dtype": re.compile(r"\.set_default_dtype\("),
}


def same_argument(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """An argument whose strides or dtype change, converted at each call in this file."""
    function = function_of(finding, tree) if finding.kind in _RECOMPILES else None
    if function is None:
        return
    parameters = {p.name for p in function.parameters}
    calls = calls_of(tree, function)
    torch, _ = torch_name(tree)
    for fact in changed(finding):
        arguments = [call.arguments[fact.name] for call in calls if fact.name in call.arguments]
        if fact.name not in parameters or not arguments:
            continue
        for rule, method, words in _conversions(fact, torch):
            edits = [
                replace_node(tree, node, f"{_atom(tree, node)}.{method}")
                for node in arguments
                if not tree.node_text(node).endswith(f".{method}")
            ]
            yield make(rule, f"Pass `{fact.name}` {words} at each call (`{method}`)", *edits)


def _conversions(fact: GuardFact, torch: str) -> Iterator[tuple[str, str, str]]:
    if fact.what == "stride":
        yield "contiguous", "contiguous()", "contiguous"
    elif fact.what == "dtype":
        for dtype in (fact.before, fact.after):
            if dtype in _DTYPES:
                yield "same-dtype", f"to({torch}.{dtype})", f"as `{dtype}`"
    elif fact.what == "dispatch keys" and "ADInplaceOrView" in f"{fact.before} {fact.after}":
        # a tensor made in inference mode
        yield "clone-argument", "clone()", "as a normal tensor"


def without_gradients(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """Every call under ``torch.no_grad()``, where grad mode changes though nothing needs gradients."""
    if finding.kind not in _RECOMPILES or not any("grad_mode" in fact.what for fact in changed(finding)):
        return
    torch, _ = torch_name(tree)
    modes = _INFERENCE_MODES.everywhere(tree).get("name", [])
    replaced = [
        replace_node(tree, node, f"{torch}.no_grad")
        for node in modes
        if tree.node_text(node) == f"{torch}.inference_mode"
    ]
    if replaced:
        yield make("no-grad", "Use `torch.no_grad()` instead of `torch.inference_mode()`", *replaced)
    region = region_of(finding, tree)
    node = call_of(tree, region) if region is not None else None
    if region is None or node is None or region.kind not in (RegionKind.DECORATOR, RegionKind.CALL):
        return
    if region.kind is RegionKind.DECORATOR:
        text = tree.line_text(region.line)
        indent = text[: len(text) - len(text.lstrip())]
        edits = [Edit(Range(region.line, 1, region.line, 1), f"{indent}@{torch}.no_grad(){newline(tree)}")]
    else:
        edits = [replace_node(tree, node, f"{torch}.no_grad()({tree.node_text(node)})")]
    title = f"Always call `{region.name}` without gradients (`torch.no_grad`)"
    yield make("no-grad", title, *edits)
    if replaced:
        yield make("no-grad", title, *edits, *replaced)


def set_once(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """A setting of torch that changes between calls, made once before them."""
    if finding.kind not in _RECOMPILES:
        return
    flags = {flag for fact in changed(finding) for flag in fact.what.split()}
    for pattern in (pattern for flag, pattern in _SETTINGS.items() if flag in flags):
        statement = next(
            (
                n
                for n in tree.root.named_children
                if n.type == "expression_statement" and pattern.search(tree.node_text(n))
            ),
            None,
        )
        if statement is None or "\n" in tree.node_text(statement):
            continue
        text = tree.node_text(statement)
        yield make(
            "set-once",
            f"Call `{text}` once, before the first call"
            if text.endswith(")")
            else f"Set `{text}` once, before the first call",
            below_imports(tree, text, blank=True),
            remove_statement(tree, statement),
        )


def _atom(tree: SourceTree, node: tree_sitter.Node) -> str:
    text = tree.node_text(node)
    return text if node.type in _ATOMS else f"({text})"
