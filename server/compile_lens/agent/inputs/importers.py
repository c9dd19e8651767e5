"""Runs another file of the workspace that imports the analyzed one: a script, or one test with the user's own pytest."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from ..runtime.entry_plans import ImportingScript, ImportingTest
from ..runtime.entry_protocol import CallMade, EntryCalled
from ..runtime.program import run_main
from ..runtime.program_text import read, remember
from ..runtime.wire import Wire
from .dispatch import UnusableEntry
from .importing.module import load

# plugins that write beside the user's files, run tests elsewhere, or measure them; that of faulthandler waits for a thread which a copy of
# the process does not have
DISABLED_PLUGINS = (
    "faulthandler",
    "cacheprovider",
    "xdist",
    "cov",
    "pytest_cov",
    "randomly",
    "rerunfailures",
    "timeout",
    "benchmark",
)
# options of the project that may name such a plugin, or a file to be written
WITHOUT = ("addopts", "log_file")
FAILED, NO_TESTS = 1, 5


def run_script(plan: ImportingScript, file: str, source: str, wire: Wire) -> None:
    """Run the script; what it imports of ``file`` has the text ``source``."""
    path = plan.path
    text = read(path)
    sys.path.insert(0, os.path.dirname(path))
    load(file, source, wire, is_helped=False)
    remember(path, text)
    sys.argv = [path]
    wire.tell(EntryCalled((CallMade(os.path.basename(path)),)))
    run_main(path, text)


def run_test(plan: ImportingTest, file: str, source: str, wire: Wire) -> None:
    """Run the test; what it imports of ``file`` has the text ``source``."""
    path = plan.node.partition("::")[0]
    sys.path.insert(0, os.path.dirname(path))
    load(file, source, wire, is_helped=False)
    test = test_of(plan.node)
    wire.tell(EntryCalled((CallMade(plan.node),)))
    test.run()
    if test.error is not None:
        raise test.error


def test_of(node: str) -> OneTest:
    """The test, to be run. Raises UnusableEntry where there is no pytest."""
    try:
        return OneTest(node, importlib.import_module("pytest"))
    except ImportError:
        raise UnusableEntry("the test needs pytest, which is not installed for this interpreter") from None


class OneTest:
    """One test, run by the user's own pytest. ``error`` is what it raised. As a plugin, it keeps that."""

    def __init__(self, node: str, pytest: Any) -> None:
        self._node = node
        self._pytest = pytest
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run it. Raises UnusableEntry where pytest does not come so far."""
        arguments = ["-q", "-x", "--no-header", "-rN", "--tb=no", "--capture=no"]
        for option in WITHOUT:
            arguments += ["-o", f"{option}="]
        for plugin in DISABLED_PLUGINS:
            arguments += ["-p", f"no:{plugin}"]
        os.environ.pop("PYTEST_ADDOPTS", None)  # may name what such a plugin knows
        code = int(self._pytest.main([*arguments, self._node], plugins=[self]))
        if self.error is not None:
            return
        if code == NO_TESTS:
            raise UnusableEntry(f"pytest finds no test `{self._node}`")
        if code not in (0, FAILED):
            raise UnusableEntry(f"pytest cannot run `{self._node}` (exit code {code})")

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Keep what the test, its set-up or its tear-down raised; one that is skipped raised nothing."""
        if call.excinfo is not None and call.excinfo.typename not in ("Skipped", "XFailed"):
            self.error = self.error or call.excinfo.value
