"""What makes two findings the same one: the code that they stand at and what they say of it, not the number of the line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.kinds import Kind
from compile_lens.syntax.definitions import definition_at
from compile_lens.syntax.tree import SourceTree

TreeOf = Callable[[str], SourceTree | None]

# findings of these kinds at one line differ by their cause, which only the message names
TOLD_BY_CAUSE = frozenset({Kind.RECOMPILE, Kind.SPECIALIZATION, Kind.PERFORMANCE, Kind.VARIATION})
# values and counts change from run to run: "(was 3)", "64 → 96"
VALUES = re.compile(r"\([^)]{0,999}\)|\d+")


@dataclass(frozen=True, slots=True)
class Identity:
    """``file`` is relative to a root, with slashes. ``function`` is the qualified name of the innermost function or class around the
    finding, '' at the top level; ``text`` is the stripped line of source, '' if the source is not here."""

    file: str
    kind: str
    code: str
    function: str
    text: str
    message: str

    @property
    def cause(self) -> str:
        """What the finding is due to, without the values of one run; '' for kinds that a line has one of."""
        if self.kind not in TOLD_BY_CAUSE:
            return ""
        subject, found, cause = self.message.partition(": ")
        return " ".join(VALUES.sub("", cause if found else subject).split())


def identify(finding: Finding, tree_of: TreeOf, root: str) -> Identity:
    """The identity of ``finding``. Where its file is not on this machine, its call path has the function and the line of source."""
    place = finding.place
    tree = tree_of(place.file)
    if tree is not None:
        definition = definition_at(tree, place.line)
        function = definition.qualified_name if definition is not None else ""
        text = tree.line_text(place.line).strip()
    else:
        innermost = finding.call_path[-1] if finding.call_path else None
        function = innermost.function if innermost is not None and innermost.function != "<module>" else ""
        text = innermost.text if innermost is not None else ""
    return Identity(
        relative(place.file, root), finding.kind.value, finding.code, function, " ".join(text.split()), finding.message
    )


def relative(file: str, root: str) -> str:
    """``file`` relative to ``root``, with slashes; unchanged if it is elsewhere, or there is no root."""
    if not root:
        return file
    try:
        path = os.path.relpath(file, root)
    except ValueError:  # another drive of Windows
        return file
    return file if path.startswith("..") else PurePath(path).as_posix()
