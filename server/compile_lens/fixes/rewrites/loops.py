"""Fix for loops over what ``nonzero`` finds, as mixtures of experts have them: a loop over all indices has a known length."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Fix, FixKind, make
from compile_lens.fixes.rewrites.configure import set_option
from compile_lens.fixes.rewrites.editing import function_around, has_comment, replace_node
from compile_lens.syntax.tree import Query, SourceTree

_LOOPS = Query("(for_statement) @loop")
_ASSIGNMENTS = Query("(assignment) @assignment")
_NAMES = Query("(identifier) @name")
_CAPTURE = ("capture_dynamic_output_shape_ops",)


def loop_over_all(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``for i in hit``, where ``hit = mask.nonzero()``, becomes a loop over all indices of the mask."""
    if finding.kind is not Kind.GRAPH_BREAK:
        return
    for loop in _LOOPS.everywhere(tree).get("loop", []):
        function, hits = function_around(loop), loop.child_by_field_name("right")
        variable = loop.child_by_field_name("left")
        if function is None or hits is None or variable is None or {hits.type, variable.type} != {"identifier"}:
            continue
        name = tree.node_text(hits)
        found = [
            node
            for node in _ASSIGNMENTS.captures(function).get("assignment", [])
            if (left := node.child_by_field_name("left")) is not None and tree.node_text(left) == name
        ]
        uses = [node for node in _NAMES.captures(function).get("name", []) if tree.node_text(node) == name]
        mask = _mask(tree, found[0]) if len(found) == 1 and len(uses) == 2 else None
        first = tree.position(found[0].start_byte)[0] if found else 0
        if mask is None or not first <= finding.place.line <= tree.position(loop.end_byte)[0]:
            continue
        edits = (replace_node(tree, mask[0], mask[1]), replace_node(tree, hits, f"range(len({name}))"))
        title = f"Loop over all indices of `{name}`, not only those that `nonzero` finds"
        yield make("loop-over-all", title, *edits, kind=FixKind.LOSSY)
        # what the body selects for an index may have a size that depends on data
        capture = set_option(tree, _CAPTURE, "True")
        if capture is not None:
            yield make("loop-over-all", f"{title} (`{_CAPTURE[0]}`)", *edits, capture, kind=FixKind.LOSSY)


def _mask(tree: SourceTree, assignment: tree_sitter.Node) -> tuple[tree_sitter.Node, str] | None:
    """The call in ``hit = mask.nonzero()`` or ``hit = torch.nonzero(mask)``, and the text of the mask."""
    call = assignment.child_by_field_name("right")
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    arguments = call.child_by_field_name("arguments") if call is not None else None
    if call is None or function is None or arguments is None or has_comment(call):
        return None
    owner, method = function.child_by_field_name("object"), function.child_by_field_name("attribute")
    if owner is None or method is None or tree.node_text(method) != "nonzero":
        return None
    given = arguments.named_children
    if not given:
        return call, tree.node_text(owner)
    is_function = tree.node_text(owner) == "torch" and len(given) == 1 and given[0].type != "keyword_argument"
    return (call, tree.node_text(given[0])) if is_function else None
