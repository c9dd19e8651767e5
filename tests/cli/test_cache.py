"""``compile-lens cache`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command import Warm

from compile_lens.workers.cache_leases import Lease


@pytest.mark.usefixtures("warm_command")
def test_where_how_large_and_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(tmp_path))

    def run(*arguments: str) -> Warm:
        return Warm(["cache", *arguments], tmp_path)

    root = Path(run("dir").out.strip())
    assert root.is_relative_to(tmp_path)
    assert run("stat").code == run("clear").code == 0  # nothing there yet
    (root / "inductor" / "ab").mkdir(parents=True)
    (root / "inductor" / "ab" / "x.py").write_bytes(b"x" * 1_500)
    (tmp_path / "theirs.txt").touch()
    assert json.loads(run("stat", "--json").out)["parts"]["inductor"] == {"files": 1, "bytes": 1_500}
    assert "1.5 kB" in run("stat").out
    lease = Lease(root)
    lease.take()
    refused = run("clear")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "compile-lens: A run is using the caches; try again when it has ended.\n"
    lease.in_order = True
    lease.release()
    assert run("clear", "triton").out == "0 bytes freed.\n"
    assert run("limit", "0").out == "1.5 kB freed.\n"
    assert run("clear", "everything").code == 2
    assert (tmp_path / "theirs.txt").exists()
