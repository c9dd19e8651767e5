"""What all tests share: the option that accepts findings into fixtures, the warm host, and the plain torch beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings
from tests.command import Warm

from compiled_before import first_on_path, keep_kernels
from plain_torch_process import plain_torch as _plain_torch
from warm_host import WarmHost
from warm_host import warm_host as _warm_host

# no test fails by the clock
settings.register_profile("without a clock", deadline=None)
settings.load_profile("without a clock")


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is remembered of files is not the user's, also in processes that a test starts."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session", autouse=True)
def remembering_compiler() -> None:
    """What Inductor compiles in every new cache is compiled once."""
    first_on_path()


warm_host = pytest.fixture(scope="session")(_warm_host)
plain_torch = pytest.fixture(scope="session")(_plain_torch)


@pytest.fixture(scope="session")
def warm_command(warm_host: WarmHost) -> None:
    """``Warm`` commands have a host."""
    Warm.host = warm_host


# a kernel takes longer
COMPILE_S = 1.0
# what takes minutes begins first, so that in the end no worker is left with it
LONG = (
    "e2e/test_first_minute",
    "e2e/test_stages_vscode",
    "e2e/test_vscode",
    "hostile",
    "repro/test_bisect",
    "test_as_plain_python",
    "repro",
    "entries",
    "test_gpu_stand_in",
    "test_models",
    "reliability",
    "workers",
    "knowledge",
)
# `make test-quick` leaves these out, and single tests marked `slow`: they start interpreters, compile for long, or run many programs
SLOW = (
    "analysis/test_certain_predictions",
    "analysis/test_hints",
    "assistants/test_server",
    "cli/test_ci_recipes",
    "cli/test_fix_verb",
    "cli/test_run_verb",
    "cli/test_stage_outputs",
    "docs/test_tutorial",
    "entries/test_absent_bases",
    "entries/test_entry_runs",
    "entries/test_lacks",
    "entries/test_lost_trials",
    "entries/test_made_up_objects",
    "entries/test_missing_weights",
    "entries/test_model_of_script",
    "entries/test_models_of_script",
    "entries/test_package_factories",
    "entries/test_partial_packages",
    "entries/test_parts_of_wrappers",
    "entries/test_refused_values",
    "entries/test_reproduced",
    "entries/test_solver",
    "entries/test_usual_calls",
    "fixes/test_fixed_text",
    "fixes/test_fixes",
    "fixes/test_gradients",
    "knowledge/test_installed",
    "lsp/test_ends",
    "lsp/test_first_hour",
    "lsp/test_fix_all",
    "lsp/test_long_documents",
    "lsp/test_prediction_hints",
    "lsp/test_quick_fixes",
    "lsp/test_real",
    "lsp/test_repros",
    "lsp/test_sandbox_actions",
    "lsp/test_searches",
    "lsp/test_survival",
    "lsp/test_traces",
    "pipeline/test_cached_graphs",
    "pipeline/test_early_variables",
    "pipeline/test_without_fork",
    "preview",
    "pytest_plugin",
    "reliability",
    "repro/test_contract",
    "repro/test_documents",
    "repro/test_graph",
    "repro/test_issue_folder",
    "repro/test_patches",
    "repro/test_source",
    "state/test_cache_history",
    "test_as_plain_python",
    "test_differential",
    "test_emulation_trial",
    "test_gpu_stand_in",
    "test_record.py",
    "test_variations",
    "workers/test_caches",
    "workers/test_host",
    "workers/test_kept_stages",
    "workers/test_loaded_packages",
    "workers/test_sandbox",
    "workers/test_secrets",
    "workers/test_stopped",
    "workers/test_vector_units",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and put what is long first."""
    names = {item: item.path.relative_to(Path(__file__).parent).as_posix() for item in items}
    for item in items:
        if names[item].startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: next((n for n, start in enumerate(LONG) if names[item].startswith(start)), len(LONG)))


def pytest_configure(config: pytest.Config) -> None:
    # pytest 9.1 loses the fixtures of a folder whose files are named apart from one another
    folders = list(dict.fromkeys(os.path.dirname(name) for name in config.args))  # noqa: PTH120 - with what follows "::"
    config.args.sort(key=lambda name: folders.index(os.path.dirname(name)))  # noqa: PTH120


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.duration > COMPILE_S:
        keep_kernels()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-fixtures",
        action="store_true",
        help="write what is found into the comments of tests/fixtures and tests/corpus",
    )
    parser.addoption(
        "--update-hostile", action="store_true", help="write what came of tests/hostile into docs/hostile.md"
    )


@pytest.fixture
def shared_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The system's shared memory, for one test at a time: what one watches, another would fill."""
    with FileLock(tmp_path_factory.getbasetemp().parent / "shared-memory.lock"):
        yield
