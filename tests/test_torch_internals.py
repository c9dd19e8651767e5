"""The rows of torch's private names: each that the installed torch should have is there."""

from __future__ import annotations

import pkgutil
import re
from typing import Any

import pytest
import torch
from tests.entries.agent_package import agent_module

ROOM = agent_module("torch_internals")
INTERNAL: Any = agent_module("torch_internals.lookup").Internal


def rows() -> list[Any]:
    modules = [agent_module(f"torch_internals.{found.name}") for found in pkgutil.iter_modules(ROOM.__path__)]
    values = [value for module in modules for value in vars(module).values()]
    flat = [item for value in values for item in (value if isinstance(value, tuple) else [value])]
    return sorted({row for row in flat if isinstance(row, INTERNAL)}, key=lambda row: str(row.path))


# what only builds for CUDA have
NEEDS_CUDA = re.compile(r"_cuda_|_CudaDevice|torch\.cuda:")


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.path)
def test_the_installed_torch_has_what_it_should(row: Any) -> None:
    if torch.version.cuda is None and NEEDS_CUDA.search(row.path):
        pytest.skip("this torch is not built for CUDA")
    assert row.exists == row.is_expected
