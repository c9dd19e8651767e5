"""The tables of the torch that is installed beside the tests, extracted as for a user's."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.tables import open_tables
from compile_lens.workers.extraction import extract_tables, find_torch


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """Knowledge of the installed torch; extracted once, into a folder that all workers of a test run share."""
    torch = find_torch(sys.executable)
    assert torch is not None
    shared = os.environ.get("COMPILE_LENS_CACHE_DIR") or str(tmp_path_factory.getbasetemp().parent / "extracted")
    path = asyncio.run(extract_tables(torch, {**os.environ, "COMPILE_LENS_CACHE_DIR": shared}))
    tables = open_tables(path)
    assert tables is not None
    return Knowledge(tables)


@pytest.fixture(scope="session")
def bundled() -> Knowledge:
    """Knowledge as it is with no torch at all."""
    return Knowledge()


@pytest.fixture(scope="session")
def site(installed: Knowledge) -> Path:
    """The folder that holds the installed torch."""
    assert installed.tables.root is not None
    return Path(installed.tables.root)
