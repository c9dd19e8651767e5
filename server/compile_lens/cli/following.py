"""Prints what a running job compiles while it runs, and the whole of it at the end. All on stderr: stdout is the program's."""

from __future__ import annotations

from rich.text import Text

from compile_lens.analysis.outcome import Outcome
from compile_lens.cli.printer import OutcomePrinter
from compile_lens.cli.safe_console import SafeConsole, rich_text
from compile_lens.cli.terminal import echo
from compile_lens.cli.text_output import heading
from compile_lens.pipeline.live_run import LiveRun, News

POLL_S = 0.3
STOPPED = "compile-lens: findings are unavailable from here on: {error}. The program keeps running."


class Following:
    """What the user sees of a ``LiveRun``."""

    def __init__(self, live: LiveRun, quiet: bool, verbose: bool) -> None:
        self.live = live
        self._quiet = quiet
        self._verbose = verbose
        self._console = SafeConsole(stderr=True)
        self._is_broken = False

    def look(self, is_over: bool = False) -> None:
        """Print what is new. A failure of ours is told once, and never reaches the program that is followed."""
        if self._is_broken:
            return
        try:
            for news in self.live.poll(is_over):
                self._tell(news)
        except Exception as error:  # the program that runs beside this must not end with it, whatever went wrong here
            self._is_broken = True
            echo(STOPPED.format(error=f"{type(error).__name__}: {error}"), err=True)

    def _tell(self, news: News) -> None:
        line = Text("compile-lens: ", style="dim")
        if news.rank is not None:
            line.append(f"rank {news.rank}: ", style="dim")
        line.append(rich_text(heading(news.shown)))
        if news.is_storm and news.finding.hints:
            line.append(f" {news.finding.hints[0]}", style="dim")
        self._console.print(line, soft_wrap=True)

    def outcomes(self) -> list[Outcome]:
        """What each rank tells; nothing, after a failure of ours."""
        return [] if self._is_broken else self.live.outcomes()

    def finish(self, output_format: str, fail_on: str, to_stderr: bool) -> tuple[list[Outcome], int]:
        """Print the report. Returns the outcomes, and the exit code of a verb that reports on them."""
        outcomes = self.outcomes()
        printer = OutcomePrinter(output_format, self._quiet, self._verbose, to_stderr=to_stderr)
        for outcome in self.live.shown() if output_format == "text" and outcomes else outcomes:
            printer.add(outcome)
        return outcomes, printer.finish(fail_on)
