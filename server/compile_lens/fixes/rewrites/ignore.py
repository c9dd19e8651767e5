"""Fix that ignores a finding: a comment on its line."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.filters import IGNORE
from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.late_pattern import pattern
from compile_lens.syntax.tree import Range, SourceTree, ancestors

# what a comment can hold: nothing that ends it
_CODE = pattern(r"[\w-]+")


def ignore(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``# compile-lens: ignore[CODE]`` at the end of the first line of the finding that can hold a comment."""
    if finding.kind is Kind.UNUSED_IGNORE or _CODE.fullmatch(finding.code) is None:
        return
    for line in range(finding.place.line, finding.place.end_line + 1):
        edit = _edit(tree, line, finding.code)
        if edit is not None:
            code = f" ({finding.code})" if finding.code != finding.kind.value else ""
            yield make("ignore", f"Ignore this {finding.kind.row.title.lower()}{code}", edit, kind=FixKind.IGNORE)
            return


def _edit(tree: SourceTree, line: int, code: str) -> Edit | None:
    text = tree.line_text(line)
    present = IGNORE.search(text)
    if present is not None:
        column = present.end("codes") + 1
        known = present["codes"].strip()
        return Edit(Range(line, column, line, column), f", {code}" if known else code)
    end = len(text.rstrip())
    if text.endswith("\\") or not text.strip() or _is_in_text(tree, line, len(text) + 1):
        return None
    return Edit(Range(line, end + 1, line, len(text) + 1), f"  # compile-lens: ignore[{code}]")


def _is_in_text(tree: SourceTree, line: int, column: int) -> bool:
    """Whether the end of a line is inside a string that goes on in the next one."""
    offset = tree.offset(line, column)
    node = tree.root.descendant_for_byte_range(offset, offset)
    return node is not None and any(
        found.type == "string" and found.start_byte < offset < found.end_byte for found in ancestors(node)
    )
