"""``compile-lens consent`` as a user runs it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.command import Warm

from compile_lens.state.consent import ConsentStore

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="moves the state directory as Linux does")


@pytest.mark.usefixtures("warm_command")
def test_what_was_allowed_is_listed_and_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run(*arguments: str) -> Warm:
        return Warm(["consent", *arguments], tmp_path)

    assert (run("list").out, run("list").code) == ("", 0)
    store = ConsentStore(tmp_path / "compile-lens" / "consent")
    roots = [tmp_path / name for name in ("a", "b", "c")]
    for root in roots:
        store.allow(root)
    assert run("list").out.splitlines() == json.loads(run("list", "--json").out)
    assert json.loads(run("list", "--json").out) == list(map(str, roots))
    unknown = run("revoke", str(roots[0]), str(tmp_path))
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err == f"compile-lens: {tmp_path} has no permission for background runs.\n"
    assert run("revoke", str(roots[0])).out == f"{roots[0]}: background runs are no longer allowed.\n"
    assert store.roots() == tuple(roots[1:])
    assert run("revoke").code == run("revoke", "--all", "x").code == 2
    assert run("revoke", "--all").code == 0
    assert store.roots() == ()
