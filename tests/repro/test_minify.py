"""A minified repro is small, plain, and fails as the one it was made from, in a new process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from planted_bugs import BUGS

from compile_lens.documents.source_file import FileProblem
from compile_lens.repro.minify import Minified, MinifyOptions, minify
from warm_host import WarmHost

pytestmark = [pytest.mark.searches, pytest.mark.xdist_group("bisect")]
SHORT = "    return torch.cos(x.tanh() * 2)"
LONG = """    y = helper(x)
    a = torch.relu(y @ y)
    b = a.softmax(-1).sum(0)
    c = torch.cos(a.tanh() * 2) + b
    return c.exp() * 3, (b - 1).abs(), a.mean()"""
HELPER = "def helper(x):\n    return x * 2 + 1\n\n\n"


def long_repro(folder: Path) -> Path:
    text = BUGS["lowering"].text()
    assert SHORT in text
    file = folder / "repro.py"
    file.write_text(text.replace(SHORT, LONG).replace("def fn(x):", HELPER + "def fn(x):"))
    return file


def run(host: WarmHost, file: Path, options: MinifyOptions) -> tuple[Minified, list[Minified]]:
    smaller: list[Minified] = []
    search = minify(host.shared(), file, file.with_name("saved.pt"), options, None, smaller.append)
    return host.wait_for(search), smaller


# the fault is in a decomposition, so that a stage without a C++ compiler shows it
DECOMPOSED = """    y = helper(x)
    a = torch.relu(y @ y)
    b = a.softmax(-1).sum(0)
    c = torch.addcmul(a.tanh(), b.tanh(), b.tanh()) + 1
    return c.sin() * 3, (b - 1).abs(), a.mean()"""


def repro_without_cpp(folder: Path) -> Path:
    text = BUGS["decomposition"].text()
    assert BUGS["decomposition"].line is not None
    long = text.replace(f"    {BUGS['decomposition'].line}", DECOMPOSED).replace("def fn(x):", HELPER + "def fn(x):")
    file = folder / "repro.py"
    file.write_text(long.replace('"inductor")', '"aot_eager_decomp_partition")'))
    assert file.read_text().count('"aot_eager_decomp_partition")') == 1
    return file


def test_a_repro_becomes_one_node(tmp_path: Path, warm_host: WarmHost) -> None:
    found, smaller = run(warm_host, repro_without_cpp(tmp_path), MinifyOptions(torch=False))
    assert found.verified, found.sentence
    assert found.nodes == 1
    assert "addcmul" in found.text and "wrong_addcmul" in found.text
    assert "def helper" not in found.text and "softmax" not in found.text
    nodes = [made.nodes for made in smaller if made.nodes is not None]
    assert nodes == sorted(nodes, reverse=True) and nodes[0] > 5


@pytest.mark.nightly
def test_a_repro_for_inductor_becomes_one_node_of_one_number(tmp_path: Path, warm_host: WarmHost) -> None:
    found, smaller = run(warm_host, long_repro(tmp_path), MinifyOptions(torch=False))
    assert found.verified, found.sentence
    assert found.nodes == 1
    assert found.inputs == ("float32[1, 1]",)
    assert "tanh" in found.text and "lowering.lowerings" in found.text
    assert "def helper" not in found.text and "softmax" not in found.text
    nodes = [made.nodes for made in smaller if made.nodes is not None]
    assert nodes == sorted(nodes, reverse=True) and nodes[0] > 5
    result = tmp_path / "smaller.py"
    result.write_text(found.text)
    ended = subprocess.run([sys.executable, str(result)], capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.startswith("BAD with backend inductor: compiled differs from eager")


def test_what_does_not_fail_is_not_made_smaller(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "repro.py"
    file.write_text("def make_target():\n    return abs\n\n\ndef make_calls():\n    return []\n")
    found, _ = run(warm_host, file, MinifyOptions(torch=False))
    assert found.text == ""
    assert "there is nothing to minify" in found.sentence


def test_what_cannot_be_written_again_is_told_in_a_sentence(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "repro.py"
    file.write_bytes(b'# coding: latin-1\nprint("\xe9")\n')
    with pytest.raises(FileProblem, match="is not encoded in UTF-8"):
        run(warm_host, file, MinifyOptions(torch=False))
    with file.open("wb") as holes:
        holes.truncate(40 << 30)
    with pytest.raises(FileProblem, match="larger than 8 MB"):
        run(warm_host, file, MinifyOptions(torch=False))


def test_who_cancels_keeps_the_smallest_so_far(tmp_path: Path, warm_host: WarmHost) -> None:
    smaller: list[Minified] = []
    arrived = asyncio.Event()

    def take(made: Minified) -> None:
        smaller.append(made)
        arrived.set()

    async def cancel_when_smaller() -> None:
        file, saved, options = repro_without_cpp(tmp_path), tmp_path / "saved.pt", MinifyOptions(torch=False)
        task = asyncio.create_task(minify(warm_host.shared(), file, saved, options, None, take))
        await asyncio.wait_for(arrived.wait(), 300)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    warm_host.wait_for(cancel_when_smaller())
    assert "def make_target" in smaller[-1].text
    compile(smaller[-1].text, "smaller", "exec")
