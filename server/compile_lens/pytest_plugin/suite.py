"""A test run with a trace: torch's own, switched on before torch is imported and read after each test. Nothing is replaced in the tests."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import pytest

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import Outcome
from compile_lens.cli.terminal import safe
from compile_lens.cli.text_output import display_path
from compile_lens.diff.budget import BadBudget, Budget, budget_of, budget_of_pairs, total
from compile_lens.pytest_plugin import BUDGET, MARKER, OF_CLASS
from compile_lens.pytest_plugin.recorder import Recorder
from compile_lens.temporary_folders import new_folder
from compile_lens.wording import counted

TRACE = "TORCH_TRACE"
TRACE_LOGGER = "torch.__trace"
LATE = "torch was imported before pytest loaded its plugins, so it writes no trace."
MAX_LISTED = 30
T = TypeVar("T")


class Observed:
    """What the fixture ``compile_lens`` gives: what torch.compile did in the running test, up to now."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order in which they were compiled."""
        return self._suite.of_test().findings

    @property
    def breaks(self) -> int:
        """Graph breaks, each occurrence counted."""
        return self._suite.of_test().counts.breaks

    @property
    def recompiles(self) -> int:
        """Recompiles, each occurrence counted."""
        return self._suite.of_test().counts.recompiles

    @property
    def graphs(self) -> int:
        """Graphs that were handed to a backend."""
        return self._suite.of_test().graphs


class Suite:
    """The plugin that is registered where a run asks for it. ``reports``: what was found is listed at the end."""

    def __init__(self, reports: bool) -> None:
        self._is_own_trace = TRACE not in os.environ
        self._folder = Path(os.environ.get(TRACE) or new_folder())
        self._is_late = "torch" in sys.modules and self._is_own_trace
        os.environ[TRACE] = str(self._folder)
        self._recorder = Recorder(self._folder)
        self._reports = reports
        self._of_test: list[Outcome] = []
        # finding → the tests that have it
        self._found: dict[tuple[str, int, str, str], set[str]] = {}
        self._graphs = 0
        self._seconds = 0.0

    def observed(self) -> Observed:
        """What the fixture gives."""
        return Observed(self)

    def of_test(self) -> Outcome:
        """All that the running test has compiled so far."""
        outcome = self._recorder.take()
        if outcome is not None:
            self._of_test.append(outcome)
        return total(self._of_test)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, T, T]:
        """Read the trace of one test, and fail the test if it exceeds its budget."""
        limits = _limits(item)
        if limits is not None and self._is_late:
            pytest.fail(LATE, pytrace=False)
        _leave_trace_to_torch()
        self._recorder.take()  # what fixtures and the collection compiled counts for no test
        self._of_test = []
        try:
            result = yield
        finally:
            done = self.of_test()
            self._remember(item.nodeid, done)
        if limits is not None and (said := limits.exceeded(done, display_path)):
            pytest.fail(safe("\n".join(["torch.compile did more than this test allows.", *said])), pytrace=False)
        return result

    def _remember(self, test: str, done: Outcome) -> None:
        self._graphs += done.graphs
        self._seconds += done.compile_time_s
        for finding in done.findings:
            key = (finding.place.file, finding.place.line, finding.code, finding.message)
            self._found.setdefault(key, set()).add(test)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List what was found, the most frequent first."""
        if not self._reports:
            return
        terminalreporter.section("torch.compile")
        if self._is_late:
            terminalreporter.line(LATE)
            return
        rows = sorted(self._found.items(), key=lambda row: (-len(row[1]), row[0]))
        for (file, line, code, message), tests in rows[:MAX_LISTED]:
            where = next(iter(tests)) if len(tests) == 1 else counted(len(tests), "test")
            terminalreporter.line(safe(f"{display_path(file)}:{line}: {code}: {message} ({where})"))
        if len(rows) > MAX_LISTED:
            terminalreporter.line(f"… and {len(rows) - MAX_LISTED} more")
        found = counted(len(rows), "finding")
        terminalreporter.line(f"{counted(self._graphs, 'graph')}, {found}, {self._seconds:.1f} s of compile time")

    def pytest_unconfigure(self) -> None:
        """Leave the environment and the disk as they were."""
        if self._is_own_trace:
            os.environ.pop(TRACE, None)
            shutil.rmtree(self._folder, ignore_errors=True)


def _limits(item: pytest.Item) -> Budget | None:
    """The budget of a test: its marker's, that of its unittest class, or that of the suite. An unknown limit fails the test."""
    marker = item.get_closest_marker(MARKER)
    stated = marker.kwargs if marker is not None else getattr(getattr(item, "cls", None), OF_CLASS, None)
    of_suite = item.config.getini(BUDGET)
    if stated is None and not of_suite:
        return None
    try:
        return budget_of_pairs(of_suite) if stated is None else budget_of(dict(stated))
    except BadBudget as problem:
        said = str(problem)
    pytest.fail(safe(said), pytrace=False)


def _leave_trace_to_torch() -> None:
    """Keep pytest's log capture, which attaches itself to each logger, from taking the records of the trace for messages of the test."""
    trace = logging.getLogger(TRACE_LOGGER)
    for handler in [one for one in trace.handlers if type(one).__module__.startswith("_pytest.")]:
        trace.removeHandler(handler)
