"""An extension of torch for a device that is not here ends `import torch`: torch is imported without it, and that is told."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from compile_lens.workers.access import Access
from compile_lens.workers.host import Host
from compile_lens.workers.host_environment import AUTOLOAD, HostEnvironment
from compile_lens.workers.job import EndKind, Job

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="one system is enough"),
    pytest.mark.asyncio(loop_scope="module"),
]


def with_extension(folder: Path) -> dict[str, str]:
    """The variables of an environment where an extension is installed that finds no driver."""
    (folder / "torch_other.py").write_text("def load():\n    raise ImportError('libother.so: no such file')\n")
    info = folder / "torch_other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[torch.backends]\ntorch_other = torch_other:load\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


async def test_programs_run_without_one_that_cannot_be_loaded(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    program = tmp_path / "program.py"
    program.write_text("import os, torch\nprint(torch.ones(2).sum(), os.environ['TORCH_DEVICE_BACKEND_AUTOLOAD'])\n")
    host = Host(sys.executable, with_extension(site))
    try:
        end = await host.run(Job(str(program), timeout_s=60.0, access=Access.FULL), lambda _: None)
    finally:
        await host.close()
    assert (end.kind, end.output.split()) == (EndKind.FINISHED, ["tensor(2.)", "0"])
    assert host.notes == (
        "torch was imported without its extension `torch_other`, which cannot be loaded on this machine. Set"
        " `TORCH_DEVICE_BACKEND_AUTOLOAD=0` to run your program here.",
    )


async def test_another_reason_or_the_same_again_is_the_end() -> None:
    environment = HostEnvironment({})
    assert not environment.does_without_backends("ImportError: libtorch_cpu.so: no such file")
    failed = f"RuntimeError: Failed to load the backend extension: torch_other. You can disable extension auto-loading with {AUTOLOAD}=0."
    assert environment.does_without_backends(failed)
    assert not environment.does_without_backends(failed)
