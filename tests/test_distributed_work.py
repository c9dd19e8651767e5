"""What a program that starts distributed work is given, when, and how it is told; and that other programs are given nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.agent.substitutes.launcher import ProgramText
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.workers.job import Job
from warm_host import WarmHost

START = "import os\nimport torch.distributed as dist\n"
NEEDED = {
    "read before": START + 'rank = int(os.environ["RANK"])\ndist.init_process_group("gloo")\n',
    "read in a function": START
    + 'def main():\n    dist.init_process_group("gloo")\n    return os.environ["LOCAL_RANK"]\nmain()\n',
    "asked for with the value of a single process": START
    + 'size = int(os.environ.get("WORLD_SIZE", 1))\ndef main():\n    os.environ["RANK"]\n    dist.init_process_group()\nmain()\n',
    "where it is started as a script": START
    + 'def f():\n    dist.init_process_group()\nif __name__ == "__main__":\n    print("RANK" in os.environ, os.environ["RANK"])\n    f()\n',
    "only the place is asked for": START
    + 'os.environ.setdefault("MASTER_PORT", "1")\ndef f():\n    return os.environ["RANK"]\nf()\ndist.init_device_mesh("cpu", (1,))\n',
    "imported alone": 'from os import environ\nfrom torch.distributed import init_process_group\nenviron["RANK"]\n',
    "another error is handled": START
    + 'try:\n    os.environ["RANK"]\nexcept ValueError:\n    pass\ndist.init_process_group()\n',
}
NOT_NEEDED = {
    "no distributed work": 'import os\nprint(os.environ["RANK"])\n',
    "no variable is read": START + 'dist.init_process_group("gloo")\n',
    "missing ones are handled": START
    + 'try:\n    os.environ["RANK"]\nexcept KeyError:\n    pass\nelse:\n    dist.init_process_group()\n',
    "missing ones are handled by suppress": START
    + 'import contextlib\nwith contextlib.suppress(KeyError):\n    os.environ["RANK"]\n    dist.init_process_group()\n',
    "the program decides by `in`": START
    + 'if "RANK" in os.environ:\n    rank = os.environ["RANK"]\n    dist.init_process_group()\n',
    "the program decides by `get`": START
    + 'ddp = int(os.environ.get("RANK", -1)) != -1\nif ddp:\n    dist.init_process_group("nccl")\n    rank = int(os.environ["RANK"])\n',
    "the program decides before it calls": START
    + 'def setup():\n    dist.init_process_group(rank=int(os.environ["RANK"]))\nif os.getenv("RANK"):\n    setup()\n',
    "the program sets them": START
    + 'os.environ["RANK"] = "0"\nos.environ.setdefault("WORLD_SIZE", "1")\nprint(os.environ["RANK"], os.environ["WORLD_SIZE"])\n'
    + "dist.init_process_group()\n",
    "another mapping": START + 'config = {}\nconfig["RANK"]\ndist.init_process_group()\n',
    "no Python": START + 'dist.init_process_group(\nos.environ["RANK"]\n',
}


@pytest.mark.parametrize("name", NEEDED)
def test_variables_are_needed(name: str) -> None:
    read = ProgramText({"program.py": NEEDED[name]}).first_needed({})
    assert read is not None
    line = NEEDED[name].splitlines()[read.line - 1]
    assert line[read.column - 1 : read.end_column - 1].endswith(f'environ["{read.name}"]')


@pytest.mark.parametrize("name", NOT_NEEDED)
def test_variables_are_not_needed(name: str) -> None:
    assert ProgramText({"program.py": NOT_NEEDED[name]}).first_needed({}) is None


def test_those_that_are_set_are_not_needed() -> None:
    assert ProgramText({"program.py": NEEDED["read before"]}).first_needed({"RANK": "1"}) is None


def run(host: WarmHost, folder: Path, text: str) -> Outcome:
    file = folder / "program.py"
    file.write_text(text, encoding="utf-8")
    return host.run(Job(str(file)))


def codes(outcome: Outcome) -> list[tuple[str, str, int]]:
    return sorted((f.code, Path(f.place.file).name, f.place.line) for f in outcome.findings)


def test_variables_read_in_another_file_are_supplied_and_told_there(warm_host: WarmHost, tmp_path: Path) -> None:
    package = tmp_path / "parts"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "setup.py").write_text(
        "import os\nimport torch.distributed as dist\n\n\ndef start():\n    dist.init_process_group('gloo')\n"
        "    return int(os.environ['LOCAL_RANK']), type(os.environ).__name__\n"
    )
    outcome = run(
        warm_host,
        tmp_path,
        "import os\nfrom parts import setup\nprint(setup.start(), os.environ['WORLD_SIZE'], os.environ.get('GROUP_RANK'))\n",
    )
    assert outcome.status is Status.OK, outcome.output
    assert outcome.output == "(0, '_Environ') 1 0\n"
    assert codes(outcome) == [
        ("one-process", "program.py", 3),
        ("one-process", "setup.py", 6),
    ]


def test_a_program_that_decides_by_the_variables_stays_alone(warm_host: WarmHost, tmp_path: Path) -> None:
    outcome = run(
        warm_host,
        tmp_path,
        NOT_NEEDED["the program decides by `get`"]
        + "print(ddp, dist.is_initialized(), sorted(n for n in os.environ if 'RANK' in n))\n",
    )
    assert (outcome.output, outcome.findings) == ("False False []\n", ())


UNTIL_THEN = """
import inspect
import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d, rendezvous

def seen():
    made = inspect.unwrap(distributed_c10d._new_process_group_helper)
    ddp = torch.nn.parallel.DistributedDataParallel._ddp_init_helper
    handlers = inspect.unwrap(rendezvous).__globals__["_rendezvous_handlers"]
    return (made is distributed_c10d._new_process_group_helper, hasattr(ddp, "__wrapped__"), handlers["env"].__name__)

def code():
    return hash(inspect.unwrap(dist.init_process_group).__code__)

first, before = seen(), code()
START
print(first, seen(), before == code())
"""


def test_process_groups_are_replaced_at_the_moment_when_they_start(warm_host: WarmHost, tmp_path: Path) -> None:
    plain = "(True, False, '_env_rendezvous_handler')"
    without = run(warm_host, tmp_path, UNTIL_THEN.replace("START", ""))
    assert (without.output, without.findings) == (f"{plain} {plain} True\n", ())
    started = run(warm_host, tmp_path, UNTIL_THEN.replace("START", "dist.init_device_mesh('cpu', (1,))"))
    assert started.output == f"{plain} (False, True, '_rendezvous_alone') False\n"
    assert [code for code, _, _ in codes(started)] == ["one-process"]


SPAWN = """
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def work(rank, size):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    dist.init_process_group("gloo", rank=rank, world_size=size)
    f = torch.compile(lambda x: x + dist.get_rank())
    print(f(torch.ones(1)).item(), dist.get_world_size())

if __name__ == "__main__":
    mp.spawn(work, args=(4,), nprocs=4, join=True)
"""


def test_the_first_of_the_spawned_processes_runs_here(warm_host: WarmHost, tmp_path: Path) -> None:
    outcome = run(warm_host, tmp_path, SPAWN)
    assert outcome.status is Status.OK, outcome.output
    assert outcome.output == "1.0 4\n"
    assert {f.message for f in outcome.findings if f.code == "one-process"} >= {
        "Only the first of 4 processes ran, in the main process."
    }
