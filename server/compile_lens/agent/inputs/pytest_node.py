"""One test of the workspace, run by its node id with the user's own pytest."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from ..runtime.protocol import CallMade, EntryCalled
from ..runtime.wire import Wire
from .dispatch import Unusable
from .module import load

# what would write beside the user's files, run tests elsewhere, or measure them
SWITCHED_OFF = ("cacheprovider", "xdist", "cov", "pytest_cov", "randomly", "rerunfailures", "timeout", "benchmark")
FAILED, NO_TESTS = 1, 5


def run(plan: dict[str, Any], file: str, source: str, wire: Wire) -> None:
    """Run ``plan["node"]`` (``path::name``); what it imports of ``file`` has the text ``source``."""
    try:
        pytest: Any = importlib.import_module("pytest")
    except ImportError:
        raise Unusable("this interpreter has no pytest, which the test needs") from None
    path = plan["node"].partition("::")[0]
    sys.path.insert(0, os.path.dirname(path))
    load(file, source)
    wire.tell(EntryCalled((CallMade(plan["node"]),)))
    arguments = ["-q", "-x", "--no-header", "-rN", "--capture=no", "-o", "addopts="]
    for plugin in SWITCHED_OFF:
        arguments += ["-p", f"no:{plugin}"]
    outcome = _Outcome()
    code = int(pytest.main([*arguments, plan["node"]], plugins=[outcome]))
    if outcome.error is not None:
        raise outcome.error
    if code == NO_TESTS:
        raise Unusable(f"pytest finds no test {plan['node']}")
    if code not in (0, FAILED):
        raise Unusable(f"pytest cannot run {plan['node']} (exit code {code})")


class _Outcome:
    """A plugin that keeps what a test raised."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.excinfo is not None and call.excinfo.typename not in ("Skipped", "XFailed"):
            self.error = self.error or call.excinfo.value
