"""The host with a real interpreter and a real torch: runs, cancels, and what is left behind (nothing)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.processes import Mark

from compile_lens.workers.access import Access
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.job import EndKind, Job
from compile_lens.workers.wire import AgentEvent, Frame, TraceRecord

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="counts processes in /proc"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("host"),
]


@pytest.fixture(scope="module")
def mark() -> Mark:
    return Mark()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_host(mark: Mark) -> AsyncIterator[Host]:
    host = Host(sys.executable, mark.environment)
    yield host
    await host.close()
    assert mark.none_left()


@pytest.fixture
def host(shared_host: Host, mark: Mark) -> Iterator[Host]:
    """The one host of all tests here: each leaves its standby, and nothing else."""
    yield shared_host
    assert shared_host.hello is not None
    assert mark.alive() == [shared_host.hello.pid]


def script(folder: Path, source: str) -> Job:
    file = folder / "script.py"
    file.write_text(textwrap.dedent(source))
    # what a program tells through files, a test can see at this level alone
    return Job(str(file), timeout_s=30.0, access=Access.FULL)


def events(frames: list[Frame]) -> list[str]:
    # what the program did, without what is told of the compiler and the sandbox
    told = [frame.name for frame in frames if isinstance(frame, AgentEvent)]
    return [name for name in told if name not in ("compiling", "sandbox")]


async def test_runs_follow_one_another_in_one_standby(host: Host, tmp_path: Path, mark: Mark) -> None:
    job = script(tmp_path, "import torch\ntorch.compile(lambda x: x + 1)(torch.ones(2))\nprint('printed')\n")
    hello = await host.start()
    assert hello.forks
    for _ in range(3):
        frames: list[Frame] = []
        end = await host.run(job, frames.append)
        assert (end.kind, end.code, end.output) == (EndKind.FINISHED, 0, "printed\n")
        assert events(frames) == ["started", "done"]
        # each run begins with a fresh numbering of frames, and names every string it uses
        traced = [frame.data for frame in frames if isinstance(frame, TraceRecord)]
        assert any(b'"dynamo_start"' in data and b'"frame_id": 0' in data for data in traced)
        assert any(b'"str": ["' + str(tmp_path).encode() in data for data in traced)
    assert (await host.start()).pid == hello.pid
    assert mark.alive() == [hello.pid]


async def test_the_program_sees_what_python_file_would_give(host: Host, tmp_path: Path) -> None:
    (tmp_path / "sibling.py").write_text("VALUE = 41\n")
    job = script(
        tmp_path,
        """
        import os, sys, sibling, inspect
        def f(): pass
        assert __name__ == "__main__" and __file__ == sys.argv[0] and sys.modules["__main__"].f is f
        assert sys.argv[1:] == ["--lr", "1"], sys.argv
        assert sys.path[0] == os.path.dirname(__file__)
        assert not [p for p in sys.path if p.endswith("agent")], sys.path
        assert sibling.VALUE == 41 and inspect.getsource(f).startswith("def f")
        assert sys.stdin.read() == ""
        assert os.environ["EXTRA"] == "1"
        print(sorted(m for m in sys.modules if m.split(".")[0] in ("wire", "depth", "notes", "boot")))
        """,
    )
    job = Job(job.file, argv=("--lr", "1"), env={"EXTRA": "1"}, timeout_s=30.0)
    frames: list[Frame] = []
    end = await host.run(job, frames.append)
    assert (events(frames), end.output) == (["started", "done"], "[]\n")
    assert not (tmp_path / "__pycache__").exists()


async def test_modules_named_like_the_standard_library_do_no_harm(host: Host, tmp_path: Path) -> None:
    for name in ("json", "struct", "logging", "wire", "torch_like", "traceback", "linecache"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('this is the workspace, not the library')\n")
    end = await host.run(script(tmp_path, "print('ran')\n"), lambda _: None)
    assert (end.kind, end.output) == (EndKind.FINISHED, "ran\n")


async def test_unsaved_text_takes_the_place_of_the_file(host: Host, tmp_path: Path) -> None:
    job = script(tmp_path, "print('saved')\n")
    end = await host.run(Job(job.file, text="print('unsaved')\nraise KeyError('k')\n", timeout_s=30.0), lambda _: None)
    assert end.output.startswith("unsaved\n")
    assert "raise KeyError('k')" in end.output
    assert "agent" not in end.output
    assert Path(job.file).read_text() == "print('saved')\n"


async def test_output_is_bounded_and_apart_from_the_protocol(host: Host, tmp_path: Path) -> None:
    job = script(
        tmp_path,
        r"""
        import os, sys
        print("first")
        for _ in range(100):
            os.write(1, b"\x89CLwE\0\0\0\4null" * 80_000)
        for descriptor in range(3, 10):
            try: os.write(descriptor, b"\x89CLwE\xff\xff\xff\xffjunk")
            except OSError: pass
        os.closerange(3, 100)
        print("last", file=sys.stderr)
        """,
    )
    frames: list[Frame] = []
    end = await host.run(job, frames.append)
    assert events(frames) == ["started", "done"]
    assert end.output_bytes > 100_000_000
    assert len(end.output) < 200_000
    assert end.output.startswith("first\n")
    assert end.output.endswith("last\n")
    assert "bytes left out" in end.output


async def test_cancel_ends_the_whole_tree_and_the_standby_stays(host: Host, tmp_path: Path, mark: Mark) -> None:
    job = script(
        tmp_path,
        """
        import os, signal, subprocess, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
        if os.fork() == 0:
            os.setsid()
            time.sleep(1000)
        print("ready", flush=True)
        open("ready", "w").close()
        time.sleep(1000)
        """,
    )
    hello = await host.start()
    running = asyncio.create_task(host.run(job, lambda _: None))
    while not (tmp_path / "ready").exists():
        await asyncio.sleep(0.01)
    assert len(mark.alive()) >= 4
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert mark.alive() == [hello.pid]
    assert (await host.run(script(tmp_path, "print(1)"), lambda _: None)).output == "1\n"


async def test_cancelling_the_awaiting_task_ends_the_run(host: Host, tmp_path: Path, mark: Mark) -> None:
    hello = await host.start()
    job = script(tmp_path, "open('ready', 'w').close()\nwhile True: pass\n")
    running = asyncio.create_task(host.run(job, lambda _: None))
    while not (tmp_path / "ready").exists():
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert mark.alive() == [hello.pid]


async def test_what_a_finished_run_left_running_is_ended(host: Host, tmp_path: Path, mark: Mark) -> None:
    job = script(tmp_path, "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\n")
    hello = await host.start()
    assert (await host.run(job, lambda _: None)).kind is EndKind.FINISHED
    assert mark.alive() == [hello.pid]


@pytest.mark.parametrize(
    ("source", "kind", "code"),
    [
        ("import os; os._exit(3)", EndKind.EXITED, 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", EndKind.SIGNALLED, int(signal.SIGSEGV)),
        ("import sys; sys.exit(4)", EndKind.FINISHED, 4),
        ("import os; os.closerange(3, 5000)", EndKind.EXITED, 0),
    ],
)
async def test_ends_are_told_apart(host: Host, tmp_path: Path, source: str, kind: EndKind, code: int) -> None:
    end = await host.run(script(tmp_path, source), lambda _: None)
    assert (end.kind, end.code) == (kind, code)


async def test_a_time_limit_ends_the_run_and_says_where_it_was(host: Host, tmp_path: Path) -> None:
    job = script(tmp_path, "def spin():\n    while True:\n        pass\nspin()\n")
    # a busy machine takes a second to come to the first line
    end = await host.run(Job(job.file, timeout_s=5.0), lambda _: None)
    assert end.kind is EndKind.TIMEOUT
    assert 'script.py", line 3 in spin' in end.crash_stack or 'script.py", line 2 in spin' in end.crash_stack


async def test_a_killed_standby_is_told_and_replaced(host: Host, tmp_path: Path, mark: Mark) -> None:
    hello = await host.start()
    job = script(tmp_path, "open('ready', 'w').close()\nwhile True: pass\n")
    running = asyncio.create_task(host.run(job, lambda _: None))
    while not (tmp_path / "ready").exists():
        await asyncio.sleep(0.01)
    os.kill(hello.pid, signal.SIGKILL)
    assert (await running).kind is EndKind.LOST
    assert (await host.run(script(tmp_path, "print(1)"), lambda _: None)).output == "1\n"
    assert (await host.start()).pid != hello.pid


async def test_an_interpreter_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    bare.chmod(0o755)
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho nothing to see >&2\nexit 1\n")
    broken.chmod(0o755)
    for python, words in ((bare, "has no torch"), (broken, "nothing to see"), (tmp_path / "none", "cannot be started")):
        with pytest.raises(HostError, match=words):
            await Host(str(python)).start()


async def test_an_agent_of_another_version_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(sys.executable)
    monkeypatch.setattr("compile_lens.workers.host.PROTOCOL_VERSION", 99)
    with pytest.raises(HostError, match=r"was updated while it was running .*: restart its server\.$"):
        await host.start()
