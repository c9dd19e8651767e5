"""Gives access to source text: a syntax tree per file, and which files are the user's own."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from compile_lens.analysis.finding import Place
from compile_lens.late_pattern import pattern
from compile_lens.syntax.ranges import expression_at
from compile_lens.syntax.tree import SourceTree
from compile_lens.trace.report import StackFrame

# Paths of installed code, on any machine: a trace may come from another one.
LIBRARY = pattern(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python\d(?:\.\d+)?[/\\]")
# … and what Inductor has generated: files are named after their hash (torch/_inductor/codecache.py, torch 2.6 to 2.13)
NO_FILE = pattern(r"^$|^<|<eval_with_key>|[/\\]c[a-z2-7]{51}\.py$")
# torch's machinery between a call and the called function: excluded from user stacks
MACHINERY = pattern(
    r"[/\\]torch[/\\](?:_dynamo|_functorch|_inductor|_compile\.py|_ops\.py|_utils_internal\.py|nn[/\\]modules[/\\]module\.py)"
    r"|[/\\]torch[/\\]utils[/\\]_contextlib\.py|^<"
)


class Sources(Struct, frozen=True):
    """Access to source. ``tree_of`` gives the syntax tree of a file, or None if it cannot be read.

    ``main_file`` is always the user's own; ``library_roots`` are folders of installed code that a path does not reveal (a checkout
    of torch).
    """

    main_file: str
    tree_of: Callable[[str], SourceTree | None]
    library_roots: tuple[str, ...] = ()
    # the folder of the agent that runs the program: excluded from user stacks
    runner_root: str | None = None
    # what happens inside libraries is shown at the user's line that called them; else where it happens
    just_my_code: bool = True
    # whether a run may speak of a file at all (pipeline/reach.py); a trace from another machine names what it likes
    is_reachable: Callable[[str], bool] = lambda _: True
    # where a line of a graph's text is: that of a trace from another machine names places there
    here: Callable[[str, int], tuple[str, int]] = lambda file, line: (file, line)

    def is_runner(self, file: str) -> bool:
        """Whether ``file`` belongs to what runs the program, below the user's top-level code."""
        return self.runner_root is not None and file.startswith(self.runner_root)

    def is_own(self, file: str) -> bool:
        """Whether ``file`` is the user's own code rather than a library's; without ``just_my_code`` a library's, too."""
        if file == self.main_file:
            return True
        if NO_FILE.search(file) or self.is_runner(file) or not self.is_reachable(file):
            return False
        if not self.just_my_code:
            return not MACHINERY.search(file)
        return not LIBRARY.search(file) and not any(file.startswith(root) for root in self.library_roots)

    def place_of(self, frame: StackFrame) -> Place:
        """The range of the expression that a stack frame stands at; the whole line if the source cannot be read."""
        tree = self.tree_of(frame.file)
        if tree is None:
            return Place(frame.file, frame.line, 1, frame.line, max(len(frame.text), 1) + 1)
        column, end_column = frame.column, frame.end_column
        text = tree.line_text(frame.line)
        if column is None and frame.caret is not None:
            indent = len(text) - len(text.lstrip())
            column, end_column = frame.caret[0] + indent + 1, frame.caret[1] + indent + 1
            # torch keeps no line of the end in what it prints (2.13), so that carets run to the end of the line
            if end_column > len(text.rstrip()):
                end_column = None
        found = expression_at(tree, frame.line, column, end_column, frame.end_line, frame.end_byte)
        if found is None:
            return Place(frame.file, frame.line, 1, frame.line, max(len(text), 1) + 1)
        return Place(frame.file, found.line, found.column, found.end_line, found.end_column)

    def line_of(self, frame: StackFrame) -> Place:
        """The whole line that a stack frame stands at, without its indentation."""
        tree = self.tree_of(frame.file)
        text = tree.line_text(frame.line) if tree is not None else frame.text
        start = len(text) - len(text.lstrip())
        return Place(frame.file, frame.line, start + 1, frame.line, max(len(text.rstrip()), start + 1) + 1)

    def line_in_graph(self, file: str, line: int) -> Place:
        """The whole line that the text of a graph names."""
        return self.line_of(StackFrame(*self.here(file, line), ""))

    def own_place(self, stack: tuple[StackFrame, ...]) -> Place:
        """The user's innermost line in ``stack``; the beginning of the program where there is none."""
        own = self.deepest_own(stack)
        return self.place_of(own) if own is not None else self.beginning

    def innermost_place(self, stack: tuple[StackFrame, ...]) -> Place:
        """The innermost line of ``stack``, the user's or a library's, but never one of what runs the program."""
        shown = next((frame for frame in reversed(stack) if not self.is_runner(frame.file)), None)
        return self.place_of(shown) if shown is not None else self.beginning

    @property
    def beginning(self) -> Place:
        """The place of findings without a line."""
        return Place(self.main_file, 1, 1, 1, 2)

    def deepest_own(self, stack: tuple[StackFrame, ...]) -> StackFrame | None:
        """The innermost frame of ``stack`` that is in the user's own code."""
        return next((frame for frame in reversed(stack) if self.is_own(frame.file)), None)
