"""Long runs of comments and continued lines, for which tree-sitter takes time that grows with their square.

At each comment or lone backslash, the scanner of its grammar looks through all that follow it for the next line of code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from compile_lens.late_pattern import pattern

# VS Code's Python, Spyder, PyCharm and jupytext; `# In[3]:` is what nbconvert writes
CELL_MARKER = pattern(r"#\s*%%|#\s*In\[[\d ]*\]|#\s*<codecell>")
# a quote, or a brace in an f-string
MAY_END_A_TEXT = pattern(r"[\"'{}]")
# bytes that the scanner looks at in one run: a hundredth of a second
MOST_STEPS = 4_000_000
_BLANKS = " \t\f"


class SkippedRun(Struct, frozen=True):
    """Lines that follow one another, from 0, and have no code: ``comments`` and ``continued`` ones; the others are blank."""

    comments: tuple[int, ...]
    continued: tuple[int, ...]
    length: int

    def takes_too_long(self, tokens: int) -> bool:
        return tokens * self.length > MOST_STEPS


def long_runs(lines: Sequence[str]) -> Iterator[SkippedRun]:
    """The runs of ``lines`` that take too long."""
    comments: list[int] = []
    continued: list[int] = []
    length = 0
    for number, line in enumerate([*lines, "end"]):
        code = line.lstrip(_BLANKS)
        if code.startswith("#"):
            comments.append(number)
        elif code.startswith("\\") and not code[1:].strip(_BLANKS):
            continued.append(number)
        elif code:
            if comments or continued:
                run = SkippedRun(tuple(comments), tuple(continued), length)
                if run.takes_too_long(len(comments) + len(continued)):
                    yield run
                comments, continued = [], []
            length = 0
            continue
        length += len(line) + 1


def left_out(run: SkippedRun, lines: Sequence[str]) -> tuple[int, ...]:
    """The comments of ``run`` that nobody asks for: not its first, which says that there are some, and no mark of a cell."""
    return tuple(number for number in run.comments[1:] if not CELL_MARKER.match(lines[number].lstrip(_BLANKS)))
