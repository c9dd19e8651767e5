"""The rows of torch's private names: each that the installed torch should have is there."""

from __future__ import annotations

from typing import Any

import pytest
import torch  # noqa: F401 - rows ask the installed version
from tests.entries.agent_package import agent_module

ROOM = agent_module("torch_internals")


def rows() -> list[Any]:
    return sorted(set(ROOM.declared()), key=lambda row: str(row.path))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.path)
def test_the_installed_torch_has_what_it_should(row: Any) -> None:
    assert row.exists == row.is_expected or row.supplied
