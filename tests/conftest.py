"""What all tests share: the option that accepts findings into fixtures, the warm host, and the plain torch beside it."""

from __future__ import annotations

import os

import pytest
from tests.command import Warm

from plain_torch_process import plain_torch as _plain_torch
from warm_host import WarmHost
from warm_host import warm_host as _warm_host


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is remembered of files is not the user's, also in processes that a test starts."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


warm_host = pytest.fixture(scope="session")(_warm_host)
plain_torch = pytest.fixture(scope="session")(_plain_torch)


@pytest.fixture(scope="session")
def warm_command(warm_host: WarmHost) -> None:
    """``Warm`` commands have a host."""
    Warm.host = warm_host


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-fixtures",
        action="store_true",
        help="write what is found into the comments of tests/fixtures and tests/corpus",
    )
    parser.addoption(
        "--update-hostile", action="store_true", help="write what came of tests/hostile into docs/hostile.md"
    )
