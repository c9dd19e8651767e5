"""Fixes for numbers and sizes that come from tensors' data: captured in the graph, or computed without such a size."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.configure import set_option
from compile_lens.fixes.rewrites.editing import before, node_at, replace_node, statement_of, torch_import, torch_name
from compile_lens.syntax.tree import SourceTree, ancestors

SCALARS, SHAPES = "capture_scalar_outputs", "capture_dynamic_output_shape_ops"
_TO_SCALAR = frozenset({"item", "tolist", "int", "float", "bool"})
_TO_SHAPE = frozenset(
    {"nonzero", "argwhere", "unique", "unique_consecutive", "masked_select", "repeat_interleave", "where"}
)


def capture(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """The option that torch names in its hints, or that the call needs; with checks of a size where one is made of it."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    torchs_text = "\n".join([finding.explanation, *finding.hints, finding.detail])
    node = node_at(tree, finding.place)
    called = _called(tree, node) if node is not None else ""
    wanted = {
        SCALARS: SCALARS in torchs_text or called in _TO_SCALAR,
        SHAPES: SHAPES in torchs_text or called in _TO_SHAPE,
    }
    for option, is_wanted in wanted.items():
        edit = set_option(tree, (option,), "True") if is_wanted else None
        if edit is None:
            continue
        yield make(option.replace("_", "-"), f"Set `torch._dynamo.config.{option} = True`", edit)
        checks = _size_checks(tree, node) if option == SCALARS and node is not None else None
        if checks is not None:
            name, added = checks
            title = f"Capture `{name}` for `{name} > 1` only: where it is not, the graph raises RuntimeError"
            yield make("capture-and-check", title, edit, added, torch_import(tree), kind=FixKind.LOSSY)
    if all(wanted.values()) or wanted[SHAPES]:
        both = [set_option(tree, (option,), "True") for option in (SCALARS, SHAPES)]
        if all(both) and both[0] is not None and both[1] is not None:
            text = both[0].text.rstrip("\r\n") + "\n" + both[1].text.lstrip("\r\n")
            if "\r" not in text:
                yield make("capture-both", "Capture sizes and numbers of tensors' data", Edit(both[0].place, text))


def masked_sum(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``x[mask].sum()`` as ``torch.where(mask, x, 0).sum()``, and ``x[mask].mean()`` likewise."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    node = node_at(tree, finding.place)
    subscript = next((each for each in ancestors(node) if each.type == "subscript"), None) if node is not None else None
    attribute = subscript.parent if subscript is not None else None
    call = attribute.parent if attribute is not None and attribute.type == "attribute" else None
    if (
        subscript is None
        or attribute is None
        or call is None
        or call.type != "call"
        or call.child_by_field_name("function") != attribute
    ):
        return
    name, value, mask = (
        attribute.child_by_field_name("attribute"),
        subscript.child_by_field_name("value"),
        subscript.child_by_field_name("subscript"),
    )
    arguments = call.child_by_field_name("arguments")
    if name is None or value is None or mask is None or (arguments is not None and arguments.named_child_count):
        return
    torch, _ = torch_name(tree)
    kept, over = f"{torch}.where({tree.node_text(mask)}, {tree.node_text(value)}, 0)", tree.node_text(mask)
    texts = {"sum": f"{kept}.sum()", "mean": f"({kept}.sum() / ({over}).sum())"}
    text = texts.get(tree.node_text(name))
    if text is not None:
        yield make(
            "masked-sum", "Sum with the mask, without a size that depends on data", replace_node(tree, call, text)
        )


def _called(tree: SourceTree, node: tree_sitter.Node) -> str:
    function = node.child_by_field_name("function") if node.type == "call" else None
    return tree.node_text(function).rpartition(".")[2] if function is not None else ""


def _size_checks(tree: SourceTree, node: tree_sitter.Node) -> tuple[str, Edit] | None:
    """Lines after ``n = x.item()`` that say that ``n`` is a size."""
    statement = statement_of(node)
    inner = statement.named_children[0] if statement is not None and statement.named_children else None
    left = inner.child_by_field_name("left") if inner is not None and inner.type == "assignment" else None
    following = statement.next_named_sibling if statement is not None else None
    while following is not None and following.type == "comment":  # which may stand anywhere
        following = following.next_named_sibling
    if left is None or left.type != "identifier" or following is None:
        return None
    torch, name = torch_name(tree)[0], tree.node_text(left)
    added = before(tree, following, f"{torch}._check({name} > 1)")
    return (name, added) if added is not None else None
