"""Prints outcomes: as text, each as it comes, or as one JSON document at the end."""

from __future__ import annotations

import linecache
from collections.abc import Callable

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.cli.json_output import to_json
from compile_lens.cli.options import exit_code
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import echo, echo_json
from compile_lens.cli.text_output import TextOutput


class OutcomePrinter:
    """Prints the outcomes of one command in the format that the user chose."""

    def __init__(
        self,
        output_format: str,
        quiet: bool,
        verbose: bool,
        read_line: Callable[[str, int], str] = linecache.getline,
    ) -> None:
        self._as_json = output_format == "json"
        self._text = TextOutput(SafeConsole(), read_line, quiet, verbose)
        self._outcomes: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        """Print one more outcome, or keep it for the JSON document."""
        self._outcomes.append(outcome)
        if not self._as_json:
            self._text.show(outcome)
        if outcome.status is Status.FAILED:
            echo(f"compile-lens: {outcome.failure}", err=True)

    def finish(self, fail_on: str) -> int:
        """Print what is left and return the exit code."""
        if self._as_json:
            echo_json(to_json(self._outcomes))
        return exit_code(self._outcomes, fail_on)
