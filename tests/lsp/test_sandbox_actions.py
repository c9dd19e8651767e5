"""What an editor offers where the sandbox blocked a call or discarded a file, and that it helps."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from editor import REAL, editor

from compile_lens.lsp.sandbox_actions import by_folder, folders_to_keep
from compile_lens.state.consent import ConsentStore, Grants

PROGRAM = """import pathlib
import socket

import torch


@torch.compile(backend="eager")
def f(x):
    return x + 1


f(torch.ones(2))
pathlib.Path("runs").mkdir(exist_ok=True)
pathlib.Path("runs/log.csv").write_text("1,2")
socket.create_connection(("127.0.0.1", {port})).close()
"""
LINE = 14


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="depends on the kind of sandbox")
async def test_the_actions_of_a_refused_call_help(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    (root / "runs").mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as service:
        file = root / "train.py"
        file.write_text(PROGRAM.format(port=service.getsockname()[1]))
        async with editor(tmp_path, REAL) as ed:
            await ed.initialize(root, {"python": sys.executable, "run": {"enabled": "always"}})
            uri = await ed.open(file)
            document, place = {"uri": uri}, {"line": LINE, "character": 3}
            where = {"textDocument": document, "range": {"start": place, "end": place}, "context": {"diagnostics": []}}
            (refused,) = await ed.published(uri)
            # an error, since it ended the program; it says what it is
            assert (refused["code"], refused["severity"], refused["range"]["start"]["line"]) == (
                "denied-network",
                1,
                LINE,
            )
            assert refused["message"].startswith("Sandbox: blocked a connection")
            found = await ed.request("textDocument/codeAction", where)
            actions = {one["title"]: one["command"]["arguments"] for one in found if "command" in one}
            assert actions["Allow network access for this workspace"] == [uri]
            assert actions["Analyze this file once without the sandbox"] == [uri]
            assert actions["Open the settings of the sandbox"] == ["compileLens.sandbox"]

            answer = await ed.command("compileLens.allowNetwork", uri)
            assert (answer["status"], answer["findings"]) == ("ok", 0)
            lenses = [lens["command"] for lens in await ed.request("textDocument/codeLens", {"textDocument": document})]
            discarded = [lens for lens in lenses if lens["title"].startswith("Sandbox: discarded")]
            if discarded:  # where the system offers copies
                assert discarded[0]["title"] == "Sandbox: discarded log.csv · keep writes to runs/"
                assert not (root / "runs" / "log.csv").exists()
                await ed.command(discarded[0]["command"], *discarded[0]["arguments"])
            else:
                await ed.command("compileLens.keepWrites", uri, str(root / "runs"))
            assert (root / "runs" / "log.csv").read_text() == "1,2"
            await ed.shut_down()


def test_only_folders_of_the_workspace_are_kept(tmp_path: Path) -> None:
    root, home = tmp_path / "workspace", tmp_path / "home"
    (root / "runs" / "a").mkdir(parents=True)
    home.mkdir()
    (root / "link").symlink_to(home)
    written = ["runs/x.csv", "runs/a/y.csv", "runs/new/z.csv", str(home / "b"), "../c", "link/d", "/etc/passwd"]
    assert folders_to_keep(written, root, root) == [root / "runs"]
    assert folders_to_keep(["model.pt"], root / "runs", root) == [root / "runs"]


def test_each_folder_is_kept_by_an_offer_of_its_own(tmp_path: Path) -> None:
    """A program that writes a file beside its results would else be given the workspace with them."""
    for folder in ("runs/a", ".git/hooks"):
        (tmp_path / folder).mkdir(parents=True)
    written = ["runs/x.csv", "runs/a/y.csv", ".git/hooks/pre-commit", "/etc/passwd"]
    assert by_folder(written, tmp_path, tmp_path) == {
        tmp_path / "runs": ["runs/x.csv", "runs/a/y.csv"],
        tmp_path / ".git" / "hooks": [".git/hooks/pre-commit"],
    }
    assert by_folder([*written, "z.csv"], tmp_path, tmp_path) == {tmp_path: [*written[:3], "z.csv"]}


def test_grants_are_of_one_workspace_and_go_with_its_permission(tmp_path: Path) -> None:
    store, root = ConsentStore(tmp_path / "consent"), tmp_path / "workspace"
    assert store.grants(root) == Grants()
    store.grant(root, Grants(network=True))
    store.grant(root, Grants(allow_write=("/a",)))
    store.allow(root)
    assert store.grants(root) == Grants(True, ("/a",))
    assert store.grants(tmp_path) == Grants()
    assert store.roots() == (root,)
    store.revoke(root)
    assert store.grants(root) == Grants()


def test_no_name_that_a_program_gives_costs_the_actions(tmp_path: Path) -> None:
    """A refused call names a file as the program does."""
    (tmp_path / "circle").symlink_to("circle")
    names = ["a\0b", "n" * 5_000, "circle/x", "../" * 5_000 + "x", "\ud800/x", "", "/"]
    assert folders_to_keep(names, tmp_path, tmp_path) == [tmp_path]
