"""The rows of torch's private names: each that the installed torch should have is there."""

from __future__ import annotations

import pkgutil
from typing import Any

import pytest
import torch  # noqa: F401 - rows ask the installed version
from tests.entries.agent_package import agent_module

ROOM = agent_module("torch_internals")
INTERNAL: Any = agent_module("torch_internals.lookup").Internal


def rows() -> list[Any]:
    modules = [agent_module(f"torch_internals.{found.name}") for found in pkgutil.iter_modules(ROOM.__path__)]
    values = [value for module in modules for value in vars(module).values()]
    flat = [item for value in values for item in (value if isinstance(value, tuple) else [value])]
    return sorted({row for row in flat if isinstance(row, INTERNAL)}, key=lambda row: str(row.path))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.path)
def test_the_installed_torch_has_what_it_should(row: Any) -> None:
    assert row.exists == row.is_expected or row.supplied
