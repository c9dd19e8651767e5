"""The server ends when it should, and nothing stays behind."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from editor import STUB, Editor, editor, private_environment
from programs import HANGS, ONE, log, write

LIMIT_S = 60


async def gone(ed: Editor) -> int:
    return await asyncio.wait_for(ed.process.wait(), LIMIT_S)


async def test_shutdown_and_exit(ed: Editor) -> None:
    assert await ed.shut_down() == 0


async def test_shutdown_ends_a_run_and_answers_its_request(ed: Editor, root: Path) -> None:
    call = {"command": "compileLens.analyze", "arguments": [write(root, HANGS).as_uri()]}
    request = await ed.begin("workspace/executeCommand", call)
    await ed.status(state="analyzing")
    assert await ed.shut_down() == 0
    assert await ed.answer(request) is None
    assert log(root)[-2:] == ["cancelled train.py", f"close {sys.executable}"]


@pytest.mark.parametrize("number", [-1, 0, 1 << 31, 1 << 70])
async def test_a_number_that_no_process_has_is_not_waited_for(number: int, tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        await ed.initialize(tmp_path, processId=number)
        await asyncio.sleep(0.5)
        assert await ed.shut_down() == 0
    assert "Traceback" not in (tmp_path / "server.log").read_text()


async def test_exit_without_shutdown_is_an_error(ed: Editor, root: Path) -> None:
    await ed.open(write(root, HANGS))
    await ed.status(state="analyzing")
    await ed.notify("exit")
    assert await gone(ed) == 1
    assert "cancelled train.py" in log(root)


async def test_the_end_of_the_input_is_the_end(ed: Editor, root: Path) -> None:
    await ed.open(write(root, HANGS))
    await ed.status(state="analyzing")
    assert ed.process.stdin is not None
    ed.process.stdin.close()
    assert await gone(ed) == 1
    assert "cancelled train.py" in log(root)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_it_properly(number: signal.Signals, ed: Editor, root: Path) -> None:
    await ed.open(write(root, HANGS))
    await ed.status(state="analyzing")
    ed.process.send_signal(number)
    assert await gone(ed) == 1
    assert "cancelled train.py" in log(root)


async def test_it_ends_with_its_editor_though_its_input_stays_open(raw: Editor, root: Path) -> None:
    parent = await asyncio.create_subprocess_exec("sleep", "1000")
    await raw.initialize(root, {"run": {"enabled": "always"}}, processId=parent.pid)
    await raw.open(write(root, HANGS))
    await raw.status(state="analyzing")
    parent.kill()
    assert await gone(raw) == 1
    assert "cancelled train.py" in log(root)
    await parent.wait()


async def test_an_editor_that_is_gone_already(raw: Editor, root: Path) -> None:
    parent = await asyncio.create_subprocess_exec("true")
    await parent.wait()
    await raw.initialize(root, processId=parent.pid)
    assert await gone(raw) == 1


async def test_what_is_printed_cannot_disturb_the_protocol(root: Path) -> None:
    program = root.parent / "printing.py"
    program.write_text(
        f"import os, sys\nsys.path.insert(0, {str(STUB.parent)!r})\n"
        "import stub_server as stub\n"
        "from compile_lens.lsp.serving import create_server, serve\n"
        "async def analyze(*args):\n"
        "    print('out of the blue', flush=True)\n"
        "    os.write(1, b'Content-Length: 3\\r\\n\\r\\nabc\\n')\n"
        "    os.system('echo from a child; cat')\n"
        "    return await stub.analyze(*args)\n"
        "serve(server=create_server(stub.StubHost, analyze))\n"
    )
    async with editor(root.parent, [sys.executable, str(program)]) as ed:
        await ed.initialize(root, {"run": {"enabled": "always"}})
        await ed.published(await ed.open(write(root, ONE)))
        assert await ed.shut_down() == 0
    assert {"out of the blue", "from a child"} <= set(log(root))


def test_over_tcp(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    program = f"import sys; from compile_lens.lsp.serving import serve; sys.exit(serve(('127.0.0.1', {port})))"
    environment = private_environment(root.parent)
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        assert b"Listening" in process.stderr.readline()
        with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S) as connection:
            body = b'{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}'
            connection.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            assert b"-32002" in connection.recv(4096)
        assert process.wait(LIMIT_S) == 1
