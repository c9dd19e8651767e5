"""No run in the sandbox writes to a file that is open since before: what its own process would open is a copy, or refused."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from compile_lens.agent.sandbox.inherited_files import take_away
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no process is a copy of another")
PROGRAM = """\
import os
import torch

@torch.compile(backend="eager")
def double(x):
    return x * 2

double(torch.ones(2))
for name in os.listdir("/dev/fd"):
    try:
        if os.readlink(f"/dev/fd/{name}").startswith(os.environ["HERE"]):
            os.write(int(name), b"planted")
    except OSError:
        pass
"""


def test_logs_that_a_variable_names_are_not_written_by_a_program(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    log = tmp_path / "log.txt"
    variables = {"TORCH_LOGS": "+dynamo", "TORCH_LOGS_OUT": str(log), "TORCH_TRACE": str(tmp_path / "trace")}

    async def outcome() -> str:
        host = Host(sys.executable, {**os.environ, **variables, "HERE": str(tmp_path)})
        try:
            return (await analyze(host, Job(str(tmp_path / "program.py")))).status.value
        finally:
            await host.close()

    assert asyncio.run(outcome()) == "ok"
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != "program.py"]
    assert log in files  # torch opens it as it is imported
    assert not [file for file in files if b"planted" in file.read_bytes()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="asks a copy of this process")
def test_what_may_be_written_is_taken_and_what_is_read_stays(tmp_path: Path) -> None:
    for name in ("read", "written", "kept"):
        (tmp_path / name).write_text("mine")
    read, written, kept = (
        os.open(tmp_path / name, flags)
        for name, flags in (
            ("read", os.O_RDONLY),
            ("written", os.O_RDWR | os.O_APPEND),
            ("kept", os.O_WRONLY | os.O_APPEND),
        )
    )
    folder = os.open(tmp_path, os.O_RDONLY)
    child = os.fork()
    if not child:
        code = 1
        try:
            take_away([kept])
            os.write(written, b" planted")
            os.write(kept, b" too")
            inside = Path(f"/dev/fd/{folder}/read").exists()
            code = 0 if os.read(read, 9) == b"mine" and os.read(written, 9) == b"" and not inside else 1
        finally:
            os._exit(code)
    for descriptor in (read, written, kept, folder):
        os.close(descriptor)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [(tmp_path / name).read_text() for name in ("read", "written", "kept")] == ["mine", "mine", "mine too"]
