"""A smaller repro fails with the same error, and a repro asks for the decisive words of an error, not for torch's heading."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from repros import write_all

from compile_lens.repro.contract import Criterion
from compile_lens.repro.expectation import expect_error
from compile_lens.repro.minify import Minified, MinifyOptions, minify
from compile_lens.repro.selection import Selection
from warm_host import WarmHost

pytestmark = [pytest.mark.searches, pytest.mark.xdist_group("bisect")]

# without its fake kernel the operator fails under the same heading, for another reason
FAKE_KERNEL = """\
import torch


@torch.library.custom_op("same_error::odd", mutates_args=())
def odd(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


@torch.library.register_fake("same_error::odd")
def _(x):
    raise ValueError("no shape for size %d" % x.shape[0])


def unused(x):
    return x


@torch.compile(backend="eager", fullgraph=True)
def f(x):
    return odd(x * 2).sum()


f(torch.randn(8, 8))
"""
BACKEND = """\
import torch


def backend(graph, inputs):
    targets = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    if torch.relu in targets:
        raise RuntimeError("no relu of size %d" % inputs[0].shape[0])
    if len(targets) < 3:
        raise RuntimeError("too few nodes")
    return graph.forward


@torch.compile(backend=backend)
def f(x):
    return torch.relu(torch.cos(x + 1)).sum()


f(torch.randn(8, 8))
"""


def minified(host: WarmHost, folder: Path, program: str, runs: int) -> Minified:
    file, repro = folder / "program.py", folder / "repro.py"
    file.write_text(program)
    write_all(host, [(file, repro, Selection(), None)])
    options = MinifyOptions(torch=False, most_runs=runs)
    return host.wait_for(minify(host.shared(), repro, folder / "saved.pt", options))


def test_the_fake_kernel_that_raises_stays(tmp_path: Path, warm_host: WarmHost) -> None:
    found = minified(warm_host, tmp_path, FAKE_KERNEL, 8)
    assert "register_fake" in (found.text or (tmp_path / "repro.py").read_text())
    assert found.verified, found.sentence


def test_another_error_of_the_same_type_is_not_taken(tmp_path: Path, warm_host: WarmHost) -> None:
    found = minified(warm_host, tmp_path, BACKEND, 25)
    assert found.verified and "torch.relu(" in found.text and found.nodes == 1
    said = found.sentence.partition("in a new process: ")[2]
    assert re.fullmatch(r"BackendCompilerFailed: backend='backend' raised \(RuntimeError: no relu of size \d\)", said)


@pytest.mark.parametrize(
    ("message", "same", "other"),
    [
        (
            "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors: call_function "
            "a.b(*(FakeTensor(..., size=(8, 8)),), **{}): got ValueError('no shape for size 8')\n",
            "got ValueError('no shape for size 1')",
            "got RuntimeError('no fake impl registered')",
        ),
        ("backend='mine' raised:\nRuntimeError: no 3 of 4\n", "RuntimeError: no 1 of 1", "RuntimeError: another"),
    ],
)
def test_a_repro_asks_for_the_decisive_words(message: str, same: str, other: str) -> None:
    expected = expect_error("TorchRuntimeError", message)
    assert expected.criterion is Criterion.RAISES
    pattern = eval(expected.constants["EXPECTED_MESSAGE"])
    heading = message.splitlines()[0]
    assert re.search(pattern, f"{heading}\n  {same}")
    assert not re.search(pattern, f"{heading}\n  {other}")
