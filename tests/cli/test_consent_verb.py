"""``compile-lens consent`` as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.state.consent import ConsentStore

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="moves the state directory as Linux does")


def run(state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "compile_lens", "consent", *arguments],
        env={**os.environ, "XDG_STATE_HOME": str(state)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_was_allowed_is_listed_and_taken_back(tmp_path: Path) -> None:
    assert (run(tmp_path, "list").stdout, run(tmp_path, "list").returncode) == ("", 0)
    store = ConsentStore(tmp_path / "compile-lens" / "consent")
    roots = [tmp_path / name for name in ("a", "b", "c")]
    for root in roots:
        store.allow(root)
    assert run(tmp_path, "list").stdout.splitlines() == json.loads(run(tmp_path, "list", "--json").stdout)
    assert json.loads(run(tmp_path, "list", "--json").stdout) == list(map(str, roots))
    unknown = run(tmp_path, "revoke", str(roots[0]), str(tmp_path))
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr == f"compile-lens: {tmp_path} has no permission for background runs.\n"
    assert run(tmp_path, "revoke", str(roots[0])).stdout == f"{roots[0]}: background runs are no longer allowed.\n"
    assert store.roots() == tuple(roots[1:])
    assert run(tmp_path, "revoke").returncode == run(tmp_path, "revoke", "--all", "x").returncode == 2
    assert run(tmp_path, "revoke", "--all").returncode == 0
    assert store.roots() == ()
