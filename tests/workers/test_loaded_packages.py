"""The copy of the standby that has imported the packages of the last run: who starts in it, and what imports it does not survive."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from tests.processes import Mark
from tests.standby_copy import copy_of, has_ended

from compile_lens.agent.runtime.imported_packages import FEWEST_MODULES
from compile_lens.pipeline.stage_run import KeptTrace, job_with_stages, lines_of
from compile_lens.stages.opened import stages_of
from compile_lens.workers.access import SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import EndKind, Job
from compile_lens.workers.wire import TraceRecord

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="a process is forked"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("host"),
]

MOST_RUNS = 10
# the text never has the words by which a program looks at what is imported
PROGRAM = """\
had = {name!r} in __import__("sys").__dict__["mod" "ules"]
import torch
import {name}
print(had, {name}.VALUE)
torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
"""
# what a program can see of the compiler before and after it compiles; the first is whether a compilation has gone before
COMPILED = """\
import sys
import torch
from torch._functorch.aot_autograd import AOT_COUNTER
from torch._inductor import debug, graph, metrics

modules = sys.__dict__["mod" "ules"]
print("torch._inductor.fx_passes.pad_mm" in modules)
print("setuptools" in modules, len(sys.__dict__["pa" "th"]), torch.get_num_threads(), torch.rand(1).item() if torch.manual_seed(3) else 0)
print(metrics.generated_kernel_count, dict(torch._dynamo.utils.counters), debug.DebugContext._counter, graph._post_grad_graph_counter)
torch.compile(lambda x: torch.softmax(x * 3, -1))(torch.ones(4, 8)).sum()
print(metrics.generated_kernel_count, AOT_COUNTER, graph._post_grad_graph_counter, "setuptools" in modules)
"""
WHAT_NO_COPY_SURVIVES = {
    "prints": "print('hello')",
    "starts_a_thread": "import threading, time; threading.Thread(target=time.sleep, args=(100,), daemon=True).start()",
    "draws": "import random; random.random()",
    "draws_from_torch": "import torch; torch.rand(1)",
    "sets_a_variable": "import os; os.environ['OF_THE_PACKAGE'] = '1'",
    "writes": "import os; open(os.path.join(os.path.dirname(__file__), 'written'), 'w').close()",
    "starts_a_program": "import subprocess; subprocess.run(['true'])",
    "keeps_a_file_open": "import os; FILE = open(os.path.join(os.path.dirname(__file__), 'part1.py'))",
    "shares_memory": "import mmap; SHARED = mmap.mmap(-1, 4096)",
    "connects": "import socket; socket.socket().connect_ex(('127.0.0.1', 9))",
    "imports_from_elsewhere": "import of_the_workspace",
    # here the system's; a variable in a workspace's launch.json may name another one
    "loads_a_library": "import ctypes; ctypes.CDLL(next(l.split()[-1] for l in open('/proc/self/maps') if l.endswith('/libc.so.6\\n')))",
    "handles_a_signal": "import signal; signal.signal(signal.SIGTERM, lambda *_: None)",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages as ``pip install --target`` makes it, and one that no installer knows."""
    folder = tmp_path_factory.mktemp("installed")
    records = []
    for name, effect in {"quiet": "", **WHAT_NO_COPY_SURVIVES}.items():
        package = folder / f"pkg_{name}"
        package.mkdir()
        parts = [f"part{number}" for number in range(FEWEST_MODULES)]
        for part in parts:
            (package / f"{part}.py").write_text("")
        (package / "__init__.py").write_text(f"from . import {', '.join(parts)}\nVALUE = 41\n{effect}\n")
        records += [f"{package.name}/{part}.py,," for part in ["__init__", *parts]]
    about = folder / "pkg-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n")
    (about / "RECORD").write_text("\n".join(records))
    (folder / "of_the_workspace.py").write_text("")
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(installed: Path) -> AsyncIterator[Host]:
    mark = Mark()
    path = os.pathsep.join(filter(None, [str(installed), os.environ.get("PYTHONPATH", "")]))
    host = Host(sys.executable, {**mark.environment, "PYTHONPATH": path}, loads_packages=True)
    yield host
    await host.close()
    assert mark.none_left()


def job_of(folder: Path, name: str, text: str = PROGRAM) -> Job:
    file = folder / "program.py"
    file.write_text(text.format(name=f"pkg_{name}"))
    return Job(str(file), timeout_s=60.0)


async def printed(host: Host, job: Job) -> str:
    end = await host.run(job, lambda _: None)
    assert end.kind is EndKind.FINISHED, end
    return end.output


async def test_the_second_run_finds_its_packages_imported(host: Host, tmp_path: Path) -> None:
    job = job_of(tmp_path, "quiet")
    assert await printed(host, job) == "False 41\n"
    copy = await copy_of(host)
    assert copy is not None
    for _ in range(2):
        assert await printed(host, job) == "True 41\n"
    assert await copy_of(host) == copy

    other = replace(job, text=PROGRAM.format(name="pkg_quiet") + "import decimal\n")
    assert (await printed(host, other)).startswith("False"), "other imports"
    job = job_of(tmp_path, "quiet")
    assert await printed(host, job) == "True 41\n"
    asked = PROGRAM.format(name="pkg_quiet") + "# os.environ\n"
    assert (await printed(host, replace(job, text=asked))).startswith("False"), "it may set variables first"
    (tmp_path / "pkg_quiet.py").write_text("VALUE = 42\n")
    assert await printed(host, job) == "False 42\n", "the user's own module of that name"


async def test_a_run_in_the_copy_is_ended_like_any_other(host: Host, tmp_path: Path) -> None:
    job = job_of(tmp_path, "quiet", PROGRAM + "import time\nif had: time.sleep(100)\n")
    assert (await printed(host, job)).startswith("False")
    copy = await copy_of(host)
    assert copy is not None
    run = asyncio.create_task(host.run(job, lambda _: None))
    while not host.output_so_far().startswith("True"):
        await asyncio.sleep(0.05)
    assert len(copy.children()) == 1
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert copy.children() == []

    assert await copy_of(host) == copy, "it has told the standby that the run is over"
    copy.kill()
    assert (await printed(host, job)).startswith("False"), "without the copy, the standby does it"


async def test_no_program_has_what_leads_to_the_copy_or_the_standby(host: Host, tmp_path: Path) -> None:
    """Whoever could write there could have a program run without the sandbox."""
    look = (
        "import os\n"
        "links = {os.readlink(f'/proc/self/fd/{one}') for one in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{one}')}\n"
        "print([link for link in links if link.startswith(('socket:', '/memfd:output'))])\n"
    )
    job = job_of(tmp_path, "quiet", PROGRAM + look.replace("{", "{{").replace("}", "}}"))
    assert await printed(host, job) == "False 41\n[]\n"
    assert await copy_of(host) is not None
    assert await printed(host, job) == "True 41\n[]\n"
    plain = replace(job, text=look + "# sys.modules\n")
    assert await printed(host, plain) == "[]\n", "beside the copy"


@pytest.mark.parametrize("effect", WHAT_NO_COPY_SURVIVES)
async def test_imports_that_do_more_than_define_are_left_to_the_program(
    host: Host, tmp_path: Path, installed: Path, effect: str
) -> None:
    job = job_of(tmp_path, effect)
    first = await printed(host, job)
    assert first.endswith("False 41\n")
    assert await has_ended(host)
    assert await printed(host, job) == first
    assert not (installed / f"pkg_{effect}" / "written").exists()


async def test_a_run_after_one_that_compiled_kernels_finds_the_compiler_ready(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "compiled.py"
    file.write_text(COMPILED)
    job = job_with_stages(Job(str(file), timeout_s=600.0, sandbox=SandboxOptions(niceness=0)))
    # a graph from the cache is not counted
    job = replace(job, torch_options={"torch._inductor.config.fx_graph_cache": "False"})
    cold, first = await with_stages(host, job)
    copy = await copy_of(host)
    assert copy is not None
    for _ in range(MOST_RUNS):
        warm, second = await with_stages(host, job)
        if warm.startswith("True"):
            break  # it may sleep for other reasons than that it is ready
    assert (cold.split("\n", 1)[0], warm.split("\n", 1)[0]) == ("False", "True")
    assert warm.split("\n", 1)[1] == cold.split("\n", 1)[1]
    assert first == second != {}
    # nor does a program start there that decides how the compiler is set up
    other = replace(job, text="import torch._inductor.config as config\nconfig.cpp.cxx = config.cpp.cxx\n" + COMPILED)
    assert (await with_stages(host, other))[0].startswith("False\n")


async def with_stages(host: Host, job: Job) -> tuple[str, dict[str, str]]:
    """What a run printed, and its stages; without what is another one in each process: addresses and times."""
    kept = KeptTrace()
    end = await host.run(job, lambda frame: kept.add(frame.data) if isinstance(frame, TraceRecord) else None)
    assert end.kind is EndKind.FINISHED, end
    stages = {stage.id: stage.text for graph in stages_of(kept.bytes(), lines_of).graphs for stage in graph.stages}
    return end.output, {
        name: re.sub(r"graph id: \d+|\d+\.\d+ us|\b\d{9,}\b|0x[0-9a-f]+", "", text)
        for name, text in stages.items()
        if not name.endswith("/passes")
    }
