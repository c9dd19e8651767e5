"""Prints findings as rustc does: the place, the source line with the range underlined, then why and what to do."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator

from compile_lens.analysis.finding import CallSite, Finding, Kind, Place, Severity
from compile_lens.analysis.finding_counts import count_findings
from compile_lens.analysis.outcome import PREDICTION_ENTRY, TRACE_ENTRY, Outcome, PassedOver, Status
from compile_lens.analysis.outcome_parts import ComparedGraphs
from compile_lens.analysis.ranks import rank_names
from compile_lens.cli.rank_table import print_ranks
from compile_lens.cli.screen import Screen
from compile_lens.cli.styled import Styled, cells
from compile_lens.entries.entry import MODEL
from compile_lens.shown_text import shell_argument, visible_name
from compile_lens.wording import and_more, counted

STYLE = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFORMATION: "bold cyan",
    Severity.HINT: "bold green",
}
WIDEST = 100
TAB = "    "
MAX_LINES = 12
MAX_FIRST = 3
MAX_MISSING = 4


class TextOutput:
    """Prints outcomes to a screen."""

    def __init__(self, screen: Screen, read_line: Callable[[str, int], str], quiet: bool, verbose: bool) -> None:
        """``read_line`` returns a line of a file, or '' if there is none."""
        self._screen = screen
        self._read_line = read_line
        self._quiet = quiet
        self._verbose = verbose
        # how many the outcome has that is printed
        self._ranks = 0

    def show(self, outcome: Outcome) -> None:
        """Print the findings of one run, and its summary."""
        self._ranks = len(outcome.ranks)
        for finding in outcome.findings:
            if self._quiet or self._is_aside(finding):
                self._print_line(finding)
            else:
                self._print_finding(finding)
        if outcome.status is Status.FAILED and not self._quiet:
            self._coverage(outcome)
        if self._quiet or outcome.status is Status.FAILED:
            return
        if self._verbose and outcome.output.strip():
            self._print_output(outcome.output)
        self._summary(outcome)

    def _is_aside(self, finding: Finding) -> bool:
        """Whether one line is enough: it is about this machine, the same in each run, and no problem of the program's."""
        return finding.kind is Kind.STAND_IN and finding.severity is not Severity.WARNING and not self._verbose

    def _print_line(self, finding: Finding) -> None:
        self._screen.print_line(heading(finding, self._ranks))

    def _print_finding(self, finding: Finding) -> None:
        self._screen.print_line(heading(finding, self._ranks))
        gutter = " " * len(str(finding.place.end_line))
        self._print_source(finding, gutter)
        for label, text in self._notes(finding):
            self._print_note(gutter, label, text)
        self._screen.print_line()

    def _print_source(self, finding: Finding, gutter: str) -> None:
        place = finding.place
        line = self._read_line(place.file, place.line).rstrip("\r\n")
        if not line.strip():
            return
        end = place.end_column if place.end_line == place.line else len(line) + 1
        before, marked = _expanded(line[: place.column - 1]), _expanded(line[place.column - 1 : end - 1])
        rest = _expanded(line[end - 1 :])
        bar = f"{gutter} │"
        self._screen.print_line(Styled(bar, style="blue"))
        source = Styled(f"{place.line:>{len(gutter)}} │ ", style="blue")
        source.append(f"{before}{marked}{rest}", style="default")
        self._screen.print_line(source)
        carets = Styled(f"{bar} ", style="blue")
        carets.append(" " * cells(before) + "^" * max(cells(marked), 1), style=STYLE[finding.severity])
        if place.end_line > place.line:
            carets.append(f" … to line {place.end_line}", style="dim")
        self._screen.print_line(carets)

    def _notes(self, finding: Finding) -> list[tuple[str, str]]:
        notes = [("", finding.explanation)] if finding.explanation else []
        notes += [("hint", hint) for hint in finding.hints]
        if finding.cost:
            notes.append(("cost", finding.cost))
        if len(finding.call_path) > 1:
            notes.append(("path", path_text(finding.call_path)))
        notes += [
            ("see", f"{display_path(related.place.file)}:{related.place.line}: {related.message}")
            for related in finding.related
        ]
        frames = ", ".join(f"[{frame}]" for frame in finding.frames[:12]) + and_more(len(finding.frames) - 12)
        if frames and self._verbose:
            notes.append(("frames", frames))
        if finding.url:
            notes.append(("more", finding.url))
        if self._verbose and finding.detail:
            notes.append(("torch", finding.detail))
        return notes

    def _print_note(self, gutter: str, label: str, text: str) -> None:
        lead = f"{label}: " if label else ""
        width = max(min(self._screen.width, WIDEST) - len(gutter) - 4, 40)
        lines: list[str] = []
        for paragraph in text.splitlines():
            # an indented line is code or a table: it stays as it is
            whole = paragraph.startswith((" ", "[")) or "://" in paragraph
            lines += [paragraph] if whole or not paragraph else textwrap.wrap(paragraph, width - len(lead))
        if len(lines) > MAX_LINES and not self._verbose:
            lines = [*lines[: MAX_LINES - 1], f"… {counted(len(lines) - MAX_LINES + 1, 'more line')} with -v"]
        for index, line in enumerate(lines):
            note = Styled(f"{gutter} {'=' if index == 0 else ' '} ", style="blue")
            note.append(lead if index == 0 else " " * len(lead), style="bold")
            note.append(line)
            self._screen.print_line(note)

    def _print_output(self, output: str) -> None:
        self._screen.rule("program output")
        self._screen.print_line(Styled(output.rstrip("\n")))
        self._screen.rule()

    def _how(self, outcome: Outcome) -> None:
        """Print the entry that the run used, unless the file simply ran as a script."""
        if outcome.entry in (TRACE_ENTRY, "") and not outcome.passed_over:
            return
        # imported late: what a trace tells needs no entry
        from compile_lens.entries.entry import SCRIPT

        if outcome.entry == SCRIPT and not outcome.passed_over:
            return
        self._screen.print_line(Styled(f"Analyzed with {outcome.entry_title}."))
        for call in outcome.calls:
            if call.making:
                self._screen.print_line(Styled(f"  {call.making}{f' on {call.inputs}' if call.inputs else ''}"))
        for words in self._tried(outcome.passed_over):
            self._screen.print_line(Styled(f"  Tried before: {words}", style="dim"))
        self._coverage(outcome)

    def _tried(self, passed: tuple[PassedOver, ...]) -> Iterator[str]:
        """What was tried before, entries of other files as one; each by its name if details are wanted."""
        elsewhere = [] if self._verbose else [entry for entry in passed if ".py" in entry.entry.partition("(")[0]]
        yield from (f"{entry.title}. {entry.reason}" for entry in passed if entry not in elsewhere)
        if len(elsewhere) == 1:
            yield f"{elsewhere[0].title}. {elsewhere[0].reason}"
        elif elsewhere:
            tests = [entry for entry in elsewhere if "::" in entry.entry]
            what = [counted(len(tests), "test"), counted(len(elsewhere) - len(tests), "script")]
            words = " and ".join(word for word in what if not word.startswith("0 "))
            yield f"{words} that import this file (names: -v). {elsewhere[0].reason}"

    def _coverage(self, outcome: Outcome) -> None:
        """Print how much of the file made-up calls are about, and what to do for the rest."""
        coverage = outcome.coverage
        if coverage is None:
            return
        self._screen.print_line(f"Analyzed {coverage.sentence}.")
        shown = coverage.missing if self._verbose else coverage.missing[:MAX_MISSING]
        for unit in shown:
            self._screen.print_line(Styled(f"  Not analyzed: `{unit.name}` ({unit.reason})", style="dim"))
            if unit.draft:
                self._screen.print_line(Styled(f"    Complete this call: --entry {shell_argument(unit.draft)}"))
                if unit.what_failed:
                    self._screen.print_line(Styled(f"    {unit.what_failed}", style="dim"))
        more = len(coverage.missing) - len(shown)
        if more:
            self._screen.print_line(Styled(f"  Not analyzed: {counted(more, 'more definition')} (-v)", style="dim"))

    def _fix_first(self, outcome: Outcome) -> None:
        """Print the most expensive findings if there are enough to need an order. Errors come first."""
        costly = sorted(
            (finding for finding in outcome.findings if finding.weight or finding.severity is Severity.ERROR),
            key=lambda finding: (finding.severity is not Severity.ERROR, -finding.weight),
        )
        if len(costly) < MAX_FIRST:
            return
        self._screen.print_line(Styled("Fix these first:", style="bold"))
        for number, finding in enumerate(costly[:MAX_FIRST], 1):
            place = f"{display_path(finding.place.file)}:{finding.place.line}"
            times = f", {finding.count} times" if finding.count > 1 else ""
            cost = f": {finding.cost}" if finding.cost else ""
            self._screen.print_line(f"  {number}. {place} [{finding.code}]{cost}{times}")

    def _summary(self, outcome: Outcome) -> None:
        if outcome.entry == PREDICTION_ENTRY:
            found = counted(len(outcome.findings), "predicted graph break")
            self._screen.print_line(
                f"{display_path(outcome.file)}: {counted(len(outcome.regions), 'region')}, {found}; nothing was run.\n"
            )
            return
        counts = outcome.counts if outcome.known else count_findings(outcome.findings)
        is_recorded = outcome.entry == TRACE_ENTRY
        parts = [
            # of a program that is not on this machine, only its frames are known
            *([counted(len(outcome.regions), "region")] if outcome.regions or not is_recorded else []),
            *([counted(outcome.graphs, "graph")] if outcome.graphs or not is_recorded or not counts.breaks else []),
            counted(counts.breaks, "graph break"),
            counted(counts.recompiles, "recompile"),
            *(
                [f"{outcome.compile_time_s:.2f} s compiling"]
                if outcome.compile_time_s >= 0.01 or not is_recorded
                else []
            ),
        ]
        if len(outcome.ranks) > 1:
            parts = [counted(len(outcome.ranks), "rank"), counted(len(outcome.findings), "finding")]
        line = Styled(f"{display_path(outcome.file)}: ", style="bold")
        line.append(", ".join(parts))
        facts = [f"torch {outcome.torch}"]
        if not is_recorded:
            facts += [f"depth {outcome.depth}", f"{outcome.duration_s:.1f} s"]
        line.append(f"  ({', '.join(facts)})", style="dim")
        self._screen.print_line(line)
        if len(outcome.ranks) > 1:
            print_ranks(outcome.ranks, self._screen)
        if is_recorded and counts.breaks and not outcome.graphs:
            self._screen.print_line("No frame compiled a graph.")
        self._how(outcome)
        if outcome.hidden:
            self._screen.print_line(f"{counted(outcome.hidden, 'more finding')} not shown (--max-findings).")
        if outcome.compared is not None:
            self._screen.print_line(f"Compared with eager: {_compared(outcome.compared)}.")
        for note in outcome.notes:
            self._screen.print_line(Styled(note, style="dim"))
        self._fix_first(outcome)
        if not outcome.regions and not outcome.graphs and not outcome.findings and outcome.entry != TRACE_ENTRY:
            self._screen.print_line("Nothing in this file is compiled: it does not use torch.compile.")
        elif not outcome.findings and outcome.known:
            self._screen.print_line(Styled("Nothing new.", style="green"))
        elif not outcome.findings and outcome.coverage is None and outcome.entry == MODEL:
            # the file may have others, which its script does not build
            self._screen.print_line(
                Styled("Everything that was called compiled without a graph break or a recompile.", style="green")
            )
        elif not outcome.findings and (outcome.coverage is None or outcome.coverage.is_whole):
            self._screen.print_line(Styled("Everything compiled without a graph break or a recompile.", style="green"))
        elif not outcome.findings:
            self._screen.print_line("No graph break and no recompile in what was analyzed.")
        self._screen.print_line()


def heading(finding: Finding, ranks: int = 0) -> Styled:
    """The first line of a finding: its place, severity, code and message, and the ranks that have it if not all ``ranks`` do."""
    place = finding.place
    head = Styled(f"{display_path(place.file)}:{place.line}:{place.column}", style="bold")
    head.append(": ")
    head.append(f"{finding.severity.value}[{finding.code}]", style=STYLE[finding.severity])
    head.append(f" {finding.message}", style="bold")
    if finding.count > 1 and finding.kind.value != "recompile":
        head.append(f" ({finding.count} times)")
    if finding.kind is not Kind.DIVERGENCE and 0 < len(finding.ranks) < ranks:
        head.append(f" ({rank_names(finding.ranks)})", style="dim")
    return head


def _compared(counts: ComparedGraphs) -> str:
    words = {
        "bitwise equal": counts.bitwise,
        "equal up to rounding": counts.rounding,
        "wrong": counts.wrong,
        "not compared": counts.not_compared,
    }
    parts = [f"{counted(number, 'graph')} {what}" for what, number in words.items() if number]
    return ", ".join(parts) or "no compiled graph ran"


def display_path(file: str) -> str:
    """``file`` relative to the current folder if it is inside it, otherwise whole; in one line."""
    relative = os.path.relpath(file) if os.path.isabs(file) else file  # noqa: PTH117 - a path of another machine stays text
    return visible_name(file if relative.startswith("..") else relative)


def path_text(path: tuple[CallSite, ...]) -> str:
    """A call path on one line, outermost first."""
    return " → ".join(f"{site.function} ({_short(site.place)})" for site in path)


def _short(place: Place) -> str:
    return f"{visible_name(os.path.basename(place.file))}:{place.line}"  # noqa: PTH119


def _expanded(text: str) -> str:
    return text.replace("\t", TAB).replace("\f", "")
