"""``fullgraph=True`` for a region, so that a later break is an error instead of a slower program."""

from __future__ import annotations

from compile_lens.fixes.fix import Fix, FixKind, make
from compile_lens.fixes.rewrites.regions import call_of, options_of, with_option
from compile_lens.syntax.regions import Region, RegionKind
from compile_lens.syntax.tree import SourceTree

# what takes `fullgraph`: torch._dynamo.optimize has `nopython`
_TAKES = frozenset({"compile", "partial"})


def one_graph(region: Region, tree: SourceTree) -> Fix | None:
    """The option for a region that says nothing of it; None where it does, or where its options are not written out."""
    node = call_of(tree, region)
    if node is None or region.fullgraph or region.kind is RegionKind.EXPORT:
        return None
    function, options = options_of(tree, region)
    arguments = node.child_by_field_name("arguments")
    unpacked = arguments is not None and any(child.type == "dictionary_splat" for child in arguments.named_children)
    # a name of the file's own may stand for `torch.compile` with options
    is_known = function.rpartition(".")[2] in _TAKES and function.count("(") == 0
    if unpacked or not is_known or any(option.startswith("fullgraph=") for option in options):
        return None
    edit = with_option(tree, region, "fullgraph", "True")
    title = f"Keep `{region.name}` one graph (`fullgraph=True`)"
    return make("one-graph", title, edit, kind=FixKind.KEEP) if edit is not None else None
