"""Fixes for sizes that change: a specification of the dynamic ones, padding, and both sides of a branch on a size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind, Place
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.branch import select
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.condition import conditions_in
from compile_lens.fixes.rewrites.editing import below_imports, replace_node, torch_import, torch_name
from compile_lens.fixes.rewrites.evidence import changed, ranks
from compile_lens.fixes.rewrites.regions import region_of, with_option
from compile_lens.syntax.tree import SourceTree

_RECOMPILES = (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)
_SIZE = re.compile(r"\.shape\b|\.size\(|\blen\(|\.ndim\b|\.numel\(")
# no size has more digits
_NUMBER = re.compile(r"[0-9]{1,18}")
# where the specification is since torch 2.13
_SPEC_IMPORT = "from torch.fx.experimental.dynamic_spec import {}"
_ATOMS = frozenset({"identifier", "attribute", "subscript"})


def shapes_spec(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``torch.compile(…, shapes_spec=…)``: the dimensions and numbers that changed are dynamic, all others static."""
    region = region_of(finding, tree) if finding.kind in _RECOMPILES else None
    function = function_of(finding, tree)
    if region is None or function is None:
        return
    parameters = [p.name for p in function.parameters]
    known = ranks(finding)
    specs: dict[str, str] = {}
    for name in parameters:
        own = [fact for fact in changed(finding) if fact.name == name]
        dimensions = {fact.dimension for fact in own if fact.what == "size" and fact.dimension is not None}
        if dimensions and name in known and max(dimensions) < known[name]:
            short = ", ".join(f'ShapeVar("{name}{d}")' if d in dimensions else "None" for d in range(known[name]))
            specs[name] = f"TensorSpec([{short}])"
        elif any(fact.what == "value" and fact.before.isdecimal() for fact in own):
            specs[name] = f'IntVar("{name}")'
    if not specs:
        return
    text = "{" + ", ".join(f'"{name}": {spec}' for name, spec in specs.items()) + "}"
    names = sorted(name for name in ("IntVar", "ShapeVar", "TensorSpec") if name in text)
    edit = with_option(tree, region, "shapes_spec", text)
    if edit is not None and "shapes_spec" not in tree.text:
        words = ", ".join(f"`{name}`" for name in specs)
        yield make(
            "shapes-spec",
            f"Specify the sizes of {words} that change (`shapes_spec`)",
            below_imports(tree, _SPEC_IMPORT.format(", ".join(names))),
            edit,
        )


def pad(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """Arguments padded with zeros to a multiple of one size, so that few sizes occur."""
    function = function_of(finding, tree) if finding.kind in _RECOMPILES else None
    if function is None:
        return
    torch, _ = torch_name(tree)
    facts = [fact for fact in changed(finding) if fact.what == "size" and fact.dimension is not None]
    calls = calls_of(tree, function)
    for name, rank in ranks(finding).items():
        own = [fact for fact in facts if fact.name == name]
        arguments = [call.arguments[name] for call in calls if name in call.arguments]
        if len({fact.dimension for fact in own}) != 1 or not arguments or any(n.type not in _ATOMS for n in arguments):
            continue
        dimension = own[0].dimension or 0
        sizes = [int(value) for fact in own for value in (fact.before, fact.after) if _NUMBER.fullmatch(value)]
        if not sizes or dimension >= rank:
            continue
        bucket = 1 << (max(sizes) - 1).bit_length()
        zeros = "0, 0, " * (rank - 1 - dimension)
        edits: list[Edit | None] = [torch_import(tree)]
        for node in arguments:
            text = tree.node_text(node)
            amount = f"-{text}.shape[{dimension}] % {bucket}"
            edits.append(replace_node(tree, node, f"{torch}.nn.functional.pad({text}, ({zeros}0, {amount}))"))
        yield make("pad", f"Pad dimension {dimension} of `{name}` to a multiple of {bucket}", *edits)


def branch_on_size(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """Both sides of ``if x.shape[0] > n`` in one graph, by ``torch.cond``; with ``dynamic=True``, else the size is a constant."""
    function = function_of(finding, tree) if finding.kind in _RECOMPILES else None
    if function is None:
        return
    region = region_of(finding, tree)
    dynamic = with_option(tree, region, "dynamic", "True") if region is not None else None
    for condition in conditions_in(tree, function, with_elif=False):
        if not _SIZE.search(tree.node_text(condition)):
            continue
        place = tree.node_range(condition)
        at = Place(finding.place.file, place.line, place.column, place.end_line, place.end_column)
        for fix in select(replace(finding, kind=Kind.GRAPH_BREAK, place=at), tree):
            if fix.rule == "cond":
                title = fix.title if dynamic is None else f"{fix.title}, and compile with `dynamic=True`"
                yield make("cond-on-size", title, *fix.edits, dynamic)
