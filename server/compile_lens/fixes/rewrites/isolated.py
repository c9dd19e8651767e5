"""Fix for several regions that compile the same code, such as modules of one class: each keeps versions of its own."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Fix, FixKind, make
from compile_lens.fixes.rewrites.regions import call_of, with_option
from compile_lens.syntax.regions import Region, RegionKind, find_regions
from compile_lens.syntax.tree import SourceTree, ancestors

_REPEATED = frozenset(
    {
        *("for_statement", "while_statement", "list_comprehension", "dictionary_comprehension", "generator_expression"),
        "set_comprehension",
    }
)
_KINDS = (RegionKind.CALL, RegionKind.METHOD)


def isolate(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``isolate_recompiles=True`` (torch 2.13) for calls of ``torch.compile`` that may be of one function."""
    if finding.kind not in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT):
        return
    regions = [region for region in find_regions(tree) if region.kind in _KINDS]
    if len(regions) < 2 and not any(_is_repeated(tree, region) for region in regions):
        return
    edits = [with_option(tree, region, "isolate_recompiles", "True") for region in regions]
    if any(edits):
        what = f"`{regions[0].name}`" if len(regions) == 1 else "each of these"
        title = f"Keep the compiled versions of {what} apart (`isolate_recompiles`)"
        yield make("isolate-recompiles", title, *edits, kind=FixKind.SEPARATE)


def _is_repeated(tree: SourceTree, region: Region) -> bool:
    node = call_of(tree, region)
    return node is not None and any(each.type in _REPEATED for each in ancestors(node))
