"""The door of the pytest plugin: its option, setting, marker and fixture. The rest is imported when a run asks for it.

pytest imports this module in every run of an environment that has Compile Lens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compile_lens.pytest_plugin import BUDGET, MARKER, OF_CLASS

if TYPE_CHECKING:
    from compile_lens.pytest_plugin.suite import Observed, Suite

OPTION = "--compile-lens"
SETTING = "compile_lens"
NAME = "compile-lens-suite"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option and the setting."""
    group = parser.getgroup("compile-lens")
    group.addoption(
        OPTION, action="store_true", help="Report what torch.compile did in this test run: graph breaks and recompiles."
    )
    parser.addini(
        SETTING, "Let tests state what torch.compile may do (marker compile_lens).", type="bool", default=False
    )
    parser.addini(
        BUDGET, "Limits for each test that states none of its own: max_breaks=0, one a line.", type="linelist"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Switch the trace on: torch looks for it when it is imported, which a conftest may do."""
    reports = early_config.known_args_namespace.compile_lens
    if reports or early_config.getini(SETTING):
        from compile_lens.pytest_plugin.suite import Suite

        early_config.pluginmanager.register(Suite(reports), NAME)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(max_breaks, max_recompiles, max_graphs, max_skipped, max_syncs, max_compile_seconds, own_code_only): "
        "fail if torch.compile does more than that in this test",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose budget nobody watches: it would always pass."""
    states_budget = item.get_closest_marker(MARKER) is not None or hasattr(getattr(item, "cls", None), OF_CLASS)
    if states_budget and _suite(item.config) is None:
        pytest.fail(
            f"This test states a budget for torch.compile: pass {OPTION}, or set `{SETTING} = true`.", pytrace=False
        )


@pytest.fixture
def compile_lens(request: pytest.FixtureRequest) -> Observed:
    """What torch.compile did in this test so far."""
    suite = _suite(request.config)
    if suite is None:
        pytest.fail(f"The fixture needs a trace: pass {OPTION}, or set `{SETTING} = true`.", pytrace=False)
    return suite.observed()


def _suite(config: pytest.Config) -> Suite | None:
    suite: Suite | None = config.pluginmanager.get_plugin(NAME)
    return suite
