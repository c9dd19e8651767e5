"""Unsaved documents of an editor, as the server for assistants reads them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from editor import REAL, editor

from compile_lens.assistants.bench import Bench
from compile_lens.assistants.ground import OwnGround
from compile_lens.documents import shared_texts
from compile_lens.documents.shared_texts import MOST_CONVERSATIONS, SharedTexts, socket_of, unsaved_text
from compile_lens.state.consent import ConsentStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets")


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # the path of a socket has a hundred characters at most
    with tempfile.TemporaryDirectory(prefix="cl-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


async def test_an_assistant_of_its_own_reads_what_is_unsaved_in_an_editor(root: Path) -> None:
    file = root / "model.py"
    file.write_text("saved = 1\n")
    consent = ConsentStore(root.parent / "consent")
    consent.allow(root)
    bench = Bench(OwnGround(consent=consent))
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {"run": {"enabled": "always", "onOpen": False}})
        uri = await ed.open(file, "unsaved = 1\n")
        await ed.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})
        made = socket_of(root)
        assert made.stat().st_mode & 0o777 == 0o600 and made.parent.stat().st_mode & 0o777 == 0o700
        source = await bench.source(str(file))
        assert (source.origin, source.text) == ("editor", "unsaved = 1\n")
        # another editor of the same workspace leaves the socket alone
        assert not await SharedTexts(root, lambda _: "other").start()
        assert await unsaved_text(root, str(root.parent / "elsewhere.py")) is None
        assert (await bench.source(str(file), "given = 1\n")).text == "given = 1\n"
        await ed.shut_down()
    assert not made.exists()
    assert (await bench.source(str(file))).text == "saved = 1\n"


async def test_without_permission_nothing_is_shared(root: Path) -> None:
    file = root / "model.py"
    file.write_text("saved = 1\n")
    async with editor(root.parent, REAL) as ed:
        await ed.initialize(root, {"run": {"enabled": "never"}})
        uri = await ed.open(file, "unsaved = 1\n")
        await ed.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})
        assert await unsaved_text(root, str(file)) is None


async def test_what_is_not_the_users_own_is_not_asked(tmp_path: Path, runtime: Path) -> None:
    shared = SharedTexts(tmp_path, lambda _: "text")
    assert await shared.start()
    assert await unsaved_text(tmp_path, str(tmp_path / "a.py")) == "text"
    socket_of(tmp_path).chmod(0o666)
    assert await unsaved_text(tmp_path, str(tmp_path / "a.py")) is None
    await shared.close()
    # a socket that a killed editor has left is replaced; a folder that others can enter is not used
    socket_of(tmp_path).touch(0o600)
    assert await shared.start()
    await shared.close()
    (runtime / "compile-lens").chmod(0o755)
    assert not await shared.start() and not socket_of(tmp_path).exists()


async def test_who_asks_without_reading_keeps_the_server_neither_busy_nor_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in the sandbox may reach the socket where there are no namespaces."""
    monkeypatch.setattr(shared_texts, "PATIENCE_S", 0.3)
    asked: list[str] = []
    shared = SharedTexts(tmp_path, lambda file: asked.append(file) or "x" * 1_000_000)
    assert await shared.start()
    question = json.dumps({"file": str(tmp_path / "a.py")}).encode() + b"\n"
    clients = []
    for _ in range(40):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(socket_of(tmp_path)))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.send(question)
        clients.append(client)
        await asyncio.sleep(0.001)
    # each is left within its time, though none of them reads
    async with asyncio.timeout(60):
        while await unsaved_text(tmp_path, str(tmp_path / "a.py")) is None:
            await asyncio.sleep(0.05)
    assert len(asked) <= 2 * MOST_CONVERSATIONS
    reader, writer = await asyncio.open_unix_connection(socket_of(tmp_path))
    writer.write(b"[" * 16_000 + b"\n")
    assert json.loads(await reader.readline()) == {"text": None}
    for each in (*clients, writer):
        each.close()
    await shared.close()


async def test_no_text_of_another_folder_is_given(tmp_path: Path) -> None:
    """Permission is given by the folder: neither `..` nor a link leads to a file of another one."""
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (root / "link").symlink_to(other)
    (root / "inside").symlink_to(".")
    shared = SharedTexts(root, lambda file: f"unsaved {Path(file).name}")
    assert await shared.start()
    try:
        assert await unsaved_text(root, str(root / "inside" / "model.py")) == "unsaved model.py"
        for file in (root / ".." / "other" / "model.py", root / "link" / "model.py", other / "model.py"):
            assert await unsaved_text(root, str(file)) is None
    finally:
        await shared.close()


async def test_an_editor_that_closes_leaves_the_socket_of_another(tmp_path: Path) -> None:
    first, second = (SharedTexts(tmp_path, lambda _, name=name: name) for name in ("first", "second"))
    assert await first.start()
    assert not await second.start()
    socket_of(tmp_path).unlink()
    assert await second.start()
    await first.close()
    assert await unsaved_text(tmp_path, str(tmp_path / "model.py")) == "second"
    await second.close()
    assert not socket_of(tmp_path).exists()


async def test_the_socket_of_a_server_that_was_killed_goes_with_the_next_server(tmp_path: Path) -> None:
    first, second, third = (SharedTexts(tmp_path / name, lambda _: None) for name in "abc")
    assert await first.start() and await second.start()
    assert first._server is not None
    killed, alive = socket_of(tmp_path / "a"), socket_of(tmp_path / "b")
    with socket.socket(socket.AF_UNIX) as abandoned:
        killed.unlink()
        abandoned.bind(str(killed))
    killed.chmod(0o600)
    for path in (killed, alive):
        os.utime(path, (0, 0))
    young = killed.with_name("young.sock")
    with socket.socket(socket.AF_UNIX) as abandoned:
        abandoned.bind(str(young))
    young.chmod(0o600)
    try:
        assert await third.start()
        assert not killed.exists() and alive.exists() and young.exists()
    finally:
        for shared in (first, second, third):
            await shared.close()
