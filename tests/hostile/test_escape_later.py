"""What a run in the sandbox leaves in a cache is never executed outside of it."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sandbox_kinds import skip_unless_offered

from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.workers.access import Access, SandboxOptions
from compile_lens.workers.caches import cache_root, private_cache_environment
from compile_lens.workers.command import sandbox_of
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, EndKind, Job

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="the kinds are those of Linux")]
PROGRAM = """\
import torch
print(torch.compile(lambda x: x.sin() + 1)(torch.zeros(8)).sum().item())
"""
# a library whose constructor says that it was loaded, in the place of each that is cached
POISON = """\
import os, pathlib, shutil, subprocess, sys
folder = pathlib.Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
source = folder / "poison.c"
source.write_text('#include <stdio.h>\\n__attribute__((constructor)) static void f(void) {{ fclose(fopen("{marker}", "w")); }}')
subprocess.run(["cc", "-shared", "-fPIC", "-o", str(folder / "poison.so"), str(source)], check=True)
found = [path for path in folder.parent.rglob("*.so") if path.name != "poison.so"]
for path in found:
    try:
        path.unlink()
        shutil.copy(folder / "poison.so", path)
    except OSError:
        pass
print("poisoned", len(found))
"""


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [SandboxKind.OVERLAY, SandboxKind.LANDLOCK], ids=lambda kind: kind.value)
def test_a_poisoned_library_is_not_loaded_without_the_sandbox(kind: SandboxKind, tmp_path: Path) -> None:
    skip_unless_offered(kind.value)
    environment = {**os.environ, "COMPILE_LENS_CACHE_DIR": str(tmp_path / "caches")}
    marker = tmp_path / "escaped"

    async def run_all() -> list[str]:
        host, said = Host(sys.executable, environment), []
        try:
            for name, text, access in (
                ("hostile", PROGRAM + POISON.format(marker=marker), Access.SANDBOXED),
                ("trusted", PROGRAM, Access.FULL),
                ("other", PROGRAM, Access.SANDBOXED),
            ):
                file = tmp_path / name / "program.py"
                file.parent.mkdir()
                file.write_text(text)
                job = Job(str(file), depth=Depth.INDUCTOR, timeout_s=300.0, sandbox=SandboxOptions(strongest=kind))
                end = await host.run(replace(job, access=access), lambda _: None)
                assert end.kind is EndKind.FINISHED, end
                said.append(end.output)
        finally:
            await host.close()
        return said

    hostile, trusted, other = asyncio.run(run_all())
    assert "poisoned" in hostile and "poisoned 0" not in hostile
    assert (trusted, other) == ("8.0\n", "8.0\n")
    assert not marker.exists()


def test_runs_of_different_trust_and_of_different_workspaces_have_different_caches(tmp_path: Path) -> None:
    environment = {"COMPILE_LENS_CACHE_DIR": str(tmp_path)}
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "a")
    folders = [
        private_cache_environment(environment, owner) for owner in (None, str(tmp_path / "a"), str(tmp_path / "b"))
    ]
    assert len({folder for variables in folders for folder in variables.values()}) == 6
    assert private_cache_environment(environment, str(link)) == folders[1]
    assert all(Path(folder).is_relative_to(cache_root(environment)) for each in folders for folder in each.values())


def test_no_other_user_reaches_the_caches_before_the_first_run_in_the_sandbox(tmp_path: Path) -> None:
    environment = {**os.environ, "COMPILE_LENS_CACHE_DIR": str(tmp_path / "caches")}
    root = cache_root(environment)
    root.mkdir(parents=True)
    root.chmod(0o755)

    async def start() -> None:
        host = Host(sys.executable, environment)
        await host.start()
        await host.close()

    asyncio.run(start())
    assert root.stat().st_mode & 0o077 == 0


def test_no_other_user_reaches_the_caches_of_a_run(tmp_path: Path) -> None:
    """Whatever modes a run gives them: what others put there, its next run would load."""
    environment = {"COMPILE_LENS_CACHE_DIR": str(tmp_path / "caches")}
    job = Job(str(tmp_path / "program.py"))
    for _ in range(2):
        spec = sandbox_of(job, str(tmp_path / "scratch"), environment)
        assert spec is not None
        for folder in map(Path, spec.caches):
            folder.chmod(0o777)
            around = [path for path in folder.parents if path.is_relative_to(cache_root(environment))]
            assert any(path.stat().st_mode & 0o077 == 0 for path in around)
        cache_root(environment).chmod(0o755)  # as an earlier version made it
