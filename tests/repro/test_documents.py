"""What is made of a verified repro: its header, the failing test, the bug report; and what the command says."""

from __future__ import annotations

import asyncio
import getpass
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from repros import job_for

from compile_lens.cli.repro import repro as repro_command
from compile_lens.repro.contract import Criterion, parse_header
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.issue import issue_text, scrub
from compile_lens.repro.selection import Selection
from compile_lens.repro.unit_test import place_in_pytorch, unit_test_text, write_unit_test
from compile_lens.repro.verdict import Bisection, BisectionStatus, Verdict
from compile_lens.repro.write import Request, Written, write_repro
from warm_host import WarmHost

PROGRAM = """\
import torch


@torch.compile(backend="eager")
def f(x):
    return x + 1


for size in (3, 4):
    f(torch.ones(size))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, warm_host: WarmHost) -> Written:
    folder = tmp_path_factory.mktemp("documents")
    program = folder / "program.py"
    program.write_text(PROGRAM)

    async def write() -> Written:
        host = warm_host.shared()
        try:
            return await write_repro(host, Request(job_for(program), Selection(), folder / "repro.py"))
        finally:
            await host.close()

    return warm_host.wait_for(write())


def test_a_repro_is_run_before_it_is_handed_over(written: Written) -> None:
    header = parse_header(written.file.read_text())
    assert written.reproduces and header.fields["verified"].startswith("yes")
    assert header.criterion is Criterion.RECOMPILES
    assert header.fields["verified"].startswith("yes, exit code 1 in ")
    assert header.fields["bisect"] == "compile-lens bisect repro.py"
    assert header.fields["logs"] == 'TORCH_LOGS="recompiles,guards" python repro.py'
    assert header.fields["torch"].startswith("2.") and "Python 3." in header.fields["torch"]
    assert "compile_lens" not in written.file.read_text()


def test_a_repro_that_is_not_finished_leaves_nothing(tmp_path: Path, warm_host: WarmHost) -> None:
    program, out = tmp_path / "program.py", tmp_path / "repro.py"
    program.write_text(PROGRAM)
    seen: list[bool] = []

    def cancel(words: str) -> None:
        if "in a new process" in words:
            seen.append(out.exists())
            raise asyncio.CancelledError

    async def write() -> None:
        host = warm_host.shared()
        try:
            await write_repro(host, Request(job_for(program), Selection(), out), cancel)
        finally:
            await host.close()

    with pytest.raises(asyncio.CancelledError):
        warm_host.wait_for(write())
    assert seen == [True]
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


def test_the_graph_of_a_frame_that_recompiles_is_written(tmp_path: Path, warm_host: WarmHost) -> None:
    program, out = tmp_path / "program.py", tmp_path / "repro.py"
    program.write_text(PROGRAM)
    request = Request(job_for(program), Selection(frame="0/1"), out, kind="graph", verify=False)
    graph = warm_host.wait_for(write_repro(warm_host.shared(), request))
    assert graph.finding is None and graph.expected.criterion is Criterion.ANY
    assert graph.title == "the graph of frame 0/1: compiled code against eager"
    with pytest.raises(CannotWrite, match="need the program's source"):
        recompile = Selection(finding="recompile")
        warm_host.wait_for(write_repro(warm_host.shared(), replace(request, selection=recompile)))


def test_the_unit_test_fails_for_the_same_reason(written: Written, tmp_path: Path, warm_host: WarmHost) -> None:
    test = warm_host.wait_for(write_unit_test(warm_host.shared(), written, tmp_path / "test_repro.py", 240))
    assert test.fails, test.why or test.ended
    assert test.belongs == "test/dynamo/test_recompiles.py"


def test_the_unit_test_has_pytorchs_form(written: Written) -> None:
    text, belongs = unit_test_text(written)
    assert text.startswith('# Owner(s): ["module: dynamo"]\n')
    assert "from torch.testing._internal.common_utils import TestCase, run_tests" in text
    assert "class TestRepro(TestCase):\n    def test_recompiles_recompile(self):" in text
    assert text.endswith('if __name__ == "__main__":\n    run_tests()\n')
    assert "test_misc" not in belongs
    compile(text, "test", "exec")


def test_where_a_test_belongs_follows_the_criterion() -> None:
    assert place_in_pytorch(None, Criterion.DIFFERS)[0] == "test/inductor/test_torchinductor.py"
    assert place_in_pytorch(None, Criterion.BREAKS)[0] == "test/dynamo/test_repros.py"


def test_the_bug_report_holds_what_is_needed_and_nothing_of_the_user(written: Written) -> None:
    verdict = Verdict("inductor", "lowerings", 3, "relu")
    bisection = Bisection(
        "repro.py", sys.executable, "2.13.0", BisectionStatus.FOUND, "It is the lowering of relu.", 9.0, verdict
    )
    text = issue_text(written, "PyTorch version: 2.13.0", bisection)
    assert text.startswith("# [dynamo] Recompiled `f`: size 0 of `x` changed (3 → 4)\n")
    for part in ("## Minimal repro", "## Output", "## Bisection", "inductor / lowerings / relu", "## Versions"):
        assert part in text
    said = re.sub(r"```python\n.*?\n```", "", text, flags=re.DOTALL)
    assert str(written.file.parent) not in said
    compile(re.findall(r"```python\n(.*?)\n```", text, re.DOTALL)[0], "repro", "exec")
    calling = issue_text(replace(written, notes=("It was @octocat in pytorch/pytorch#1.",)), "PyTorch version: 2.13.0")
    assert "It was `@octocat` in `pytorch/pytorch#1`." in calling


def test_paths_and_names_are_scrubbed() -> None:
    text = 'File "/home/ada/work/secret/train.py", line 3, in /opt/venv/lib/python3.11/site-packages/torch/_dynamo/utils.py'
    assert scrub(text) == 'File "train.py", line 3, in torch/_dynamo/utils.py'
    assert scrub(r"C:\Users\ada\train.py failed") == "train.py failed"
    assert (
        scrub("https://pytorch.org/docs/stable/index.html and a / b")
        == "https://pytorch.org/docs/stable/index.html and a / b"
    )
    assert len(getpass.getuser()) < 3 or scrub(f"by {getpass.getuser()}") in ("by <user>", f"by {getpass.getuser()}")


def test_a_file_of_the_users_is_never_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mine.py"
    out.write_text("mine\n")
    with pytest.raises(Exception, match=r"exists\. Give another path with -o, or use --force"):
        repro_command.main([str(tmp_path / "program.py"), "-o", str(out)], standalone_mode=False)
    with pytest.raises(Exception, match="cannot be combined with --no-run"):
        arguments = [str(tmp_path / "p.py"), "-o", str(tmp_path / "x.md"), "--as", "issue", "--no-run"]
        repro_command.main(arguments, standalone_mode=False)
    assert out.read_text() == "mine\n"
