"""Runs another file of the workspace that imports the analyzed one: a script, or one test with the user's own pytest."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from ..runtime.entry_plans import ImportingScript, ImportingTest
from ..runtime.entry_protocol import CallMade, EntryCalled
from ..runtime.program import read, remember, run_main
from ..runtime.wire import Wire
from .dispatch import UnusableEntry
from .module import load

# plugins that write beside the user's files, run tests elsewhere, or measure them
DISABLED_PLUGINS = ("cacheprovider", "xdist", "cov", "pytest_cov", "randomly", "rerunfailures", "timeout", "benchmark")
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
    try:
        pytest: Any = importlib.import_module("pytest")
    except ImportError:
        raise UnusableEntry("the test needs pytest, which is not installed for this interpreter") from None
    path = plan.node.partition("::")[0]
    sys.path.insert(0, os.path.dirname(path))
    load(file, source, wire, is_helped=False)
    wire.tell(EntryCalled((CallMade(plan.node),)))
    arguments = ["-q", "-x", "--no-header", "-rN", "--capture=no", "-o", "addopts="]
    for plugin in DISABLED_PLUGINS:
        arguments += ["-p", f"no:{plugin}"]
    outcome = _Outcome()
    code = int(pytest.main([*arguments, plan.node], plugins=[outcome]))
    if outcome.error is not None:
        raise outcome.error
    if code == NO_TESTS:
        raise UnusableEntry(f"pytest finds no test `{plan.node}`")
    if code not in (0, FAILED):
        raise UnusableEntry(f"pytest cannot run `{plan.node}` (exit code {code})")


class _Outcome:
    """A plugin that keeps what a test raised."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.excinfo is not None and call.excinfo.typename not in ("Skipped", "XFailed"):
            self.error = self.error or call.excinfo.value
