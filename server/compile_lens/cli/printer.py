"""Prints outcomes: as text, each as it comes, or as one document at the end."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import cache
from pathlib import Path

from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.cli.options import NEVER, exit_code
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import as_given, echo, echo_json
from compile_lens.cli.text_output import TextOutput
from compile_lens.diff.identity import TreeOf
from compile_lens.documents.source_file import source_if_readable
from compile_lens.formats.annotations import to_annotations
from compile_lens.formats.json_document import to_json
from compile_lens.formats.junit import to_junit
from compile_lens.formats.sarif import to_sarif
from compile_lens.syntax.tree import SourceTree, parse

JSON = frozenset({"json", "sarif"})


def local_trees() -> TreeOf:
    """What parses a file of this machine, each once; None for one that is not here, or cannot be read as Python."""

    @cache
    def tree_of(file: str) -> SourceTree | None:
        text = source_if_readable(file)
        return None if text is None else parse(text)

    return tree_of


class OutcomePrinter:
    """Prints the outcomes of one command in the format that the user chose."""

    def __init__(
        self,
        output_format: str,
        quiet: bool,
        verbose: bool,
        read_line: Callable[[str, int], str] = linecache.getline,
        tree_of: TreeOf | None = None,
        to_stderr: bool = False,
    ) -> None:
        self._format = output_format
        self._tree_of = tree_of or local_trees()
        self._text = TextOutput(SafeConsole(stderr=to_stderr), read_line, quiet, verbose)
        self.outcomes: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        """Print one more outcome, or keep it for the document."""
        self.outcomes.append(outcome)
        if self._format == "text":
            self._text.show(outcome)
        if outcome.status is Status.FAILED:
            echo(f"compile-lens: {as_given(outcome.failure)}", err=True)

    def finish(self, fail_on: str) -> int:
        """Print what is left and return the exit code."""
        if self._format != "text" and (document := self._document(fail_on)):
            (echo_json if self._format in JSON else echo)(document)
        return exit_code(self.outcomes, fail_on)

    def _document(self, fail_on: str) -> str:
        root = str(Path.cwd())
        if self._format == "sarif":
            return to_sarif(self.outcomes, self._tree_of, root)
        if self._format == "github":
            return to_annotations(self.outcomes, root)
        if self._format == "junit":
            return to_junit(self.outcomes, root, None if fail_on == NEVER else Severity(fail_on))
        return to_json(self.outcomes, self._tree_of)
