"""The comment that chooses an entry: ``# compile-lens: entry=get_inputs``."""

from __future__ import annotations

from compile_lens.late_pattern import pattern
from compile_lens.syntax.tree import Query, SourceTree

_COMMENTS = Query("(comment) @comment")
_ENTRY = pattern(r"#\s*compile-lens:\s*entry\s*=\s*(.*\S)")


def entry_comment(tree: SourceTree) -> tuple[str, int] | None:
    """The entry that the first such comment of a file names, and its line."""
    for node in sorted(_COMMENTS.everywhere(tree).get("comment", []), key=lambda n: n.start_byte):
        match = _ENTRY.match(tree.node_text(node))
        if match is not None:
            return match[1].strip(), tree.position(node.start_byte)[0]
    return None
