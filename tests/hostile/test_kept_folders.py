"""What a user allows a run to change for good is what they named: no link that a run or a repository puts there leads elsewhere."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.access import SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job
from compile_lens.workers.kept_folders import kept_folders, links_among
from sandbox_kinds import skip_unless_offered

# a mount point cannot be renamed, but the folder around it can
SWAP = """
import os
os.rename({place!r}, {place!r} + "-before")
os.makedirs({place!r})
os.symlink({elsewhere!r}, {place!r} + "/inner")
"""
WRITE = """
import pathlib
pathlib.Path({place!r}, "inner", "planted").write_text("")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kinds are those of Linux")
@pytest.mark.xdist_group("sandbox")
@pytest.mark.parametrize("kind", [SandboxKind.OVERLAY, SandboxKind.LANDLOCK], ids=lambda kind: kind.value)
def test_a_run_cannot_move_what_it_may_change(kind: SandboxKind, tmp_path: Path) -> None:
    skip_unless_offered(kind.value)
    place, elsewhere = tmp_path / "out" / "place", tmp_path / "elsewhere"
    (place / "inner").mkdir(parents=True)
    elsewhere.mkdir()
    allowed = (str(tmp_path / "out"), str(place / "inner"))
    jobs = []
    for name, text in (("swap", SWAP), ("write", WRITE)):
        file = tmp_path / f"{name}.py"
        file.write_text(text.format(place=str(place), elsewhere=str(elsewhere)))
        jobs.append(Job(str(file), sandbox=SandboxOptions(strongest=kind, allow_write=allowed)))

    async def run() -> list[Outcome]:
        host = Host(sys.executable)
        try:
            return [await analyze(host, job) for job in jobs]
        finally:
            await host.close()

    swapped, written = asyncio.run(run())
    assert swapped.status.value == "ok"
    assert (place / "inner").is_symlink()
    assert not list(elsewhere.iterdir())
    assert any(f"is not kept, because a link leads from there to `{elsewhere}`" in note for note in written.notes)


def test_a_link_of_the_users_own_counts_and_one_of_a_workspace_does_not(tmp_path: Path) -> None:
    workspace, elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
    (workspace / "out").mkdir(parents=True)
    elsewhere.mkdir()
    for link, target in (
        (tmp_path / "own", elsewhere),
        (tmp_path / "around", workspace),
        (workspace / "theirs", elsewhere),
        (workspace / "far", tmp_path / "own"),
        (workspace / "first", "second"),
        (workspace / "second", "first"),
        (workspace / "inside", "out"),
        (elsewhere / "back", workspace / "theirs"),
    ):
        link.symlink_to(target)

    def kept(*allowed: Path) -> tuple[str, ...]:
        return kept_folders(tuple(map(str, allowed)), str(workspace))

    assert kept(tmp_path / "own") == (str(elsewhere),)
    assert kept(tmp_path / "around" / "out") == (str(workspace / "out"),)
    assert kept(workspace / "out", workspace / "out" / "new") == (str(workspace / "out"),)
    for led in ("theirs", "theirs/below", "far", "first", "inside"):
        assert kept(workspace / led) == ()
    assert kept(tmp_path / "own" / "back") == ()
    assert kept(workspace / "out" / ".." / "theirs") == ()
    # a link in one of them is one that a run may have put there
    assert kept(elsewhere, elsewhere / "back") == (str(elsewhere),)
    assert links_among((str(workspace / "theirs"), str(tmp_path / "own")), str(workspace)) == (
        str(workspace / "theirs"),
    )
