"""``compile-lens consent`` as a user runs it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
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


def in_a_terminal(arguments: list[str], answer: str, state: Path) -> tuple[int, str]:
    """The exit code and the screen of a command that a user answers."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["XDG_STATE_HOME"] = str(state)
        os.execv(sys.executable, [sys.executable, "-m", "compile_lens", *arguments])
    os.write(terminal, f"{answer}\n".encode())
    screen = b""
    with contextlib.suppress(OSError):  # the child has ended
        while data := os.read(terminal, 4096):
            screen += data
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), screen.decode()


@pytest.mark.usefixtures("warm_command")
def test_permission_is_given_in_a_terminal_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, store = tmp_path / "workspace", ConsentStore(tmp_path / "compile-lens" / "consent")
    workspace.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    scripted = Warm(["consent", "allow", str(workspace)], tmp_path)
    assert scripted.code == 2 and "needs a terminal" in scripted.err and store.roots() == ()
    code, screen = in_a_terminal(["consent", "allow", str(workspace)], "n", tmp_path)
    assert (code, store.roots()) == (1, ()) and str(workspace) in screen.replace("\r\n", "")
    code, screen = in_a_terminal(["consent", "allow", str(workspace)], "y", tmp_path)
    assert (code, store.roots()) == (0, (workspace,))
    assert in_a_terminal(["consent", "allow", str(tmp_path / "no")], "y", tmp_path)[0] == 2
