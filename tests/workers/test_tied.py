"""What is started ends with who started it, even if it is stopped before its first line, or waits for something that is stopped."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from tests.processes import Mark

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel ties processes on Linux alone")

PATIENCE_S = 20.0
# an interpreter whose environment takes its time before the first line of what it should run
STOPS = """#!/bin/sh
kill -STOP $$
"""
STARTS_EVERYTHING = """
import asyncio, os, sys
from pathlib import Path
from compile_lens.pipeline import facts_process
from compile_lens.workers.environment_report import ask_environment
from compile_lens.workers.extraction import InstalledTorch, extract_tables
from compile_lens.workers.host import Host
from compile_lens.workers.script import run_script
from compile_lens.workers.syntax_question import ask_for_syntax_error

python = sys.argv[1]
facts_process.sys = type("Interpreter", (), {"executable": python, "path": [], "version_info": sys.version_info})

async def main():
    await asyncio.gather(
        Host(python).start(),
        facts_process.FactsProcess().read("x = 1"),
        ask_environment(python, os.environ),
        extract_tables(InstalledTorch(python, "2.13.0", Path("nowhere"))),
        run_script(python, Path(python), 60.0),
        ask_for_syntax_error(python, "x.py", "x ="),
    )

asyncio.run(main())
"""
WAITS_FOR_WHAT_IS_STOPPED = """
import os, signal, sys, time
from compile_lens.agent.runtime import processes

host = os.fork()
if host == 0:
    agent = os.fork()
    if agent == 0:
        processes.become_subreaper()
        processes.outlive_parent(0.2)
        child = processes.fork()
        if child == 0:
            assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and signal.getsignal(signal.SIGCONT) is signal.SIG_DFL
            grandchild = os.fork()
            if grandchild == 0:
                os.setsid()
            os.kill(os.getpid(), signal.SIGSTOP)
        os.waitpid(child, 0)
    time.sleep(1000)
time.sleep(1000)
"""


def stopped(mark: Mark, count: int) -> list[int]:
    """The processes of ``mark``, once so many of them are stopped."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        alive = mark.alive()
        # one of those that are on their way may end while it is looked at
        with contextlib.suppress(psutil.NoSuchProcess):
            if sum(psutil.Process(pid).status() == psutil.STATUS_STOPPED for pid in alive) == count:
                return alive
        assert time.monotonic() < deadline, [psutil.Process(pid).cmdline() for pid in alive]
        time.sleep(0.02)


def test_what_is_stopped_before_its_first_line_ends_with_its_parent(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(STOPS)
    python.chmod(0o755)
    mark = Mark()
    environment = {**mark.environment, "COMPILE_LENS_CACHE_DIR": str(tmp_path / "cache")}
    server = subprocess.Popen([sys.executable, "-c", STARTS_EVERYTHING, str(python)], env=environment)
    try:
        assert len(stopped(mark, 6)) == 7
    finally:
        server.kill()
        server.wait()
        left = not mark.none_left()
        for pid in mark.alive():
            os.kill(pid, 9)
    assert not left


def test_an_agent_that_waits_for_a_stopped_process_ends_with_its_host() -> None:
    mark = Mark()
    top = subprocess.Popen([sys.executable, "-c", WAITS_FOR_WHAT_IS_STOPPED], env=mark.environment)
    try:
        alive = stopped(mark, 2)
        (host,) = (pid for pid in alive if psutil.Process(pid).ppid() == top.pid)
        for pid in set(alive) - {host, top.pid}:
            os.kill(pid, 19)
        os.kill(host, 9)
        deadline = time.monotonic() + PATIENCE_S
        while mark.alive() != [top.pid]:
            assert time.monotonic() < deadline, mark.alive()
            time.sleep(0.02)
    finally:
        for pid in mark.alive():
            os.kill(pid, 9)
        top.wait()
