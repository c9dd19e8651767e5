"""Prints outcomes: as text, each as it comes, or as one document at the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.cli.output_options import NEVER, exit_code
from compile_lens.cli.screen import screen
from compile_lens.cli.terminal import as_given, echo, echo_commands, echo_json
from compile_lens.documents.source_lines import read_line

if TYPE_CHECKING:
    from compile_lens.diff.identity import TreeOf
    from compile_lens.syntax.tree import SourceTree

# what only one of the formats needs is imported with it: a trace that was opened before is printed in less time than that takes
PRINTED = {"json": echo_json, "sarif": echo_json, "github": echo_commands}


def local_trees() -> TreeOf:
    """What parses a source file of this machine, each once; None for one that is not here, is not named as source, or cannot be read."""
    from compile_lens.documents.source_file import source_if_named
    from compile_lens.syntax.tree import parse

    @cache
    def tree_of(file: str) -> SourceTree | None:
        text = source_if_named(file)
        return None if text is None else parse(text)

    return tree_of


class OutcomePrinter:
    """Prints the outcomes of one command in the format that the user chose."""

    def __init__(
        self,
        output_format: str,
        quiet: bool,
        verbose: bool,
        read_line: Callable[[str, int], str] = read_line,
        tree_of: TreeOf | None = None,
        to_stderr: bool = False,
    ) -> None:
        self._format = output_format
        self._tree_of = tree_of
        self._show: Callable[[Outcome], None] | None = None
        if output_format == "text":
            from compile_lens.cli.text_output import TextOutput

            self._show = TextOutput(screen(err=to_stderr), read_line, quiet, verbose).show
        self.outcomes: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        """Print one more outcome, or keep it for the document."""
        self.outcomes.append(outcome)
        if self._show is not None:
            self._show(outcome)
        if outcome.status is Status.FAILED:
            echo(f"compile-lens: {as_given(outcome.failure)}", err=True)

    def finish(self, fail_on: str) -> int:
        """Print what is left and return the exit code."""
        if self._format != "text" and (document := self._document(fail_on)):
            PRINTED.get(self._format, echo)(document)
        return exit_code(self.outcomes, fail_on)

    def _document(self, fail_on: str) -> str:
        root = str(Path.cwd())
        if self._format == "github":
            from compile_lens.formats.annotations import to_annotations

            return to_annotations(self.outcomes, root)
        if self._format == "junit":
            from compile_lens.formats.junit import to_junit

            return to_junit(self.outcomes, root, None if fail_on == NEVER else Severity(fail_on))
        tree_of = self._tree_of or local_trees()
        if self._format == "sarif":
            from compile_lens.formats.sarif import to_sarif

            return to_sarif(self.outcomes, tree_of, root)
        from compile_lens.formats.json_document import to_json

        return to_json(self.outcomes, tree_of)
