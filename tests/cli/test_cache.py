"""``compile-lens cache`` as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from compile_lens.workers.cache_leases import Lease


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "compile_lens", "cache", *arguments],
        env={**os.environ, "COMPILE_LENS_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_where_how_large_and_away(tmp_path: Path) -> None:
    root = Path(run(tmp_path, "dir").stdout.strip())
    assert root.is_relative_to(tmp_path)
    assert run(tmp_path, "stat").returncode == run(tmp_path, "clear").returncode == 0  # nothing there yet
    (root / "inductor" / "ab").mkdir(parents=True)
    (root / "inductor" / "ab" / "x.py").write_bytes(b"x" * 1_500)
    (tmp_path / "theirs.txt").touch()
    assert json.loads(run(tmp_path, "stat", "--json").stdout)["parts"]["inductor"] == {"files": 1, "bytes": 1_500}
    assert "1.5 kB" in run(tmp_path, "stat").stdout
    lease = Lease(root)
    lease.take()
    refused = run(tmp_path, "clear")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "compile-lens: A run is using the caches; try again when it has ended.\n"
    lease.in_order = True
    lease.release()
    assert run(tmp_path, "clear", "triton").stdout == "0 bytes freed.\n"
    assert run(tmp_path, "limit", "0").stdout == "1.5 kB freed.\n"
    assert run(tmp_path, "clear", "everything").returncode == 2
    assert (tmp_path / "theirs.txt").exists()
