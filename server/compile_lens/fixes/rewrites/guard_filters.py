"""Fixes that drop the guards that failed (``guard_filter_fn``). They are unsafe: titles say what is not checked any more."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.editing import torch_name
from compile_lens.fixes.rewrites.evidence import changed, failed_guards
from compile_lens.fixes.rewrites.regions import call_of, region_of, with_option
from compile_lens.syntax.regions import Region
from compile_lens.syntax.tree import SourceTree

_FILTER = "guard_filter_fn"
# A graph is made for the tensors that it was traced with: without these guards, or with none at all (`skip_all_guards_unsafe`),
# compiled code may read beyond a tensor. Guards of torch's own state are no guards of a value, and stay.
_OF_TENSORS = ("tensor ", "expected type of", "GLOBAL_STATE")
_SIZES = frozenset({"size", "sizes", "stride", "dtype", "aliasing", "memory", "guard"})
# torch.compiler (torch 2.13), the narrowest first: the filter, what its guards are of
_GLOBALS = ("skip_guard_on_globals_unsafe", "global variables")
_MODULES = ("skip_guard_on_all_nn_modules_unsafe", "attributes of modules")
_ALL_BUT_TENSORS = ("keep_tensor_guards_unsafe", "anything but tensors")


def skip_guards(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """The region without the kind of guards that made torch compile it again, where that is one of values and objects."""
    guards = failed_guards(finding) if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT) else ()
    is_of_tensors = any(guard.startswith(_OF_TENSORS) for guard in guards)
    if not guards or is_of_tensors or any(fact.what in _SIZES for fact in changed(finding)):
        return
    region = region_of(finding, tree)
    if region is None:
        return
    torch, is_imported = torch_name(tree)
    filters = [_ALL_BUT_TENSORS]
    if all("G['" in guard for guard in guards):
        filters.insert(0, _GLOBALS)
    elif all(fact.root == "self" for fact in changed(finding)):
        filters.insert(0, _MODULES)
    for name, of_what in filters:
        edit = _with_filter(tree, region, f"{torch}.compiler.{name}") if is_imported else None
        if edit is not None:
            title = f"Unsafe: do not check {of_what} in `{region.name}` (`{name}`)"
            yield make(name.replace("_", "-"), title, edit, kind=FixKind.UNSAFE)


def _with_filter(tree: SourceTree, region: Region, name: str) -> Edit | None:
    """The edit that adds a filter to a region's options; None where it has one, a mode, or options that are not written out."""
    node = call_of(tree, region)
    arguments = node.child_by_field_name("arguments") if node is not None and node.type == "call" else None
    given = arguments.named_children if arguments is not None else []
    values = {_name(tree, each): each.child_by_field_name("value") for each in given if each.type == "keyword_argument"}
    options = values.get("options")
    # torch.compile takes a mode or options, but not both
    if "mode" in values or any(each.type == "dictionary_splat" for each in given):
        return None
    if options is None:
        return with_option(tree, region, "options", f'{{"{_FILTER}": {name}}}')
    if options.type != "dictionary" or _FILTER in tree.node_text(options):
        return None
    start = options.start_byte + 1
    comma = ", " if options.named_children else ""
    return Edit(tree.range_between(start, start), f'"{_FILTER}": {name}{comma}')


def _name(tree: SourceTree, argument: tree_sitter.Node) -> str:
    name = argument.child_by_field_name("name")
    return tree.node_text(name) if name is not None else ""
