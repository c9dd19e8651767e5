"""The emulated CUDA device is tried before it is believed, and a program that fails in it runs again without it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.workers.host import BOOT
from compile_lens.workers.job import Depth, Job
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("gpu-stand-in")

# loads the agent as its boot file does, and forks for each line: a folder, and the canaries to try instead of the agent's
TRIALS = """
import importlib, importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("boot", {boot!r})
boot = importlib.util.module_from_spec(spec)
spec.loader.exec_module(boot)
boot.load()
import ctypes, torch
canaries = importlib.import_module(boot.PACKAGE + ".substitutes.cuda.canaries")
trial = importlib.import_module(boot.PACKAGE + ".substitutes.cuda.trial")
for line in sys.stdin:
    folder, tried = json.loads(line)
    if os.fork() == 0:
        if tried:
            canaries.CANARIES = eval(tried, dict(Canary=canaries.Canary, ctypes=ctypes, torch=torch))
        verdict = trial.verdict(folder)
        print(json.dumps([verdict.off, verdict.without]), flush=True)
        os._exit(0)
    if os.wait()[1]:
        print("null", flush=True)
"""
CRASH = "lambda device, compiled: [ctypes.string_at(0) if device == 'cuda' else 1]"
RAISE = "lambda device, compiled: [torch.ones(2, device=device).nonsense() if device == 'cuda' else 1]"
OTHER_VALUE = "lambda device, compiled: [torch.ones(2) if device == 'cuda' else torch.zeros(2)]"
OTHER_GRAPH = "lambda device, compiled: [compiled(lambda x: x.sin() if x.is_cuda else x.cos())(torch.zeros(2, device=device)) * 0]"


class Trials:
    """A process that has imported torch, and tries in forks of itself."""

    def __init__(self) -> None:
        text = TRIALS.format(boot=str(BOOT))
        self._process = subprocess.Popen(
            [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def verdict(self, canary: str, folder: Path) -> tuple[str, dict[str, str]]:
        """Why nothing is emulated, and what the emulated device lacks, with other canaries than the agent's if there is one."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(folder), f"({canary},)" if canary else ""]) + "\n")
        self._process.stdin.flush()
        off, without = json.loads(self._process.stdout.readline())
        return off, without

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    made = Trials()
    yield made
    made.close()


def test_this_torch_passes_every_canary_and_is_not_tried_again(tmp_path: Path, trials: Trials) -> None:
    assert trials.verdict("", tmp_path) == ("", {})
    (file,) = tmp_path.iterdir()
    file.write_text(json.dumps({"off": "remembered", "without": {}}))
    assert trials.verdict("", tmp_path) == ("remembered", {})
    file.write_text("{")
    assert trials.verdict("Canary('x', lambda device, compiled: [])", tmp_path) == ("", {})


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (CRASH, "x in a trial crashed with this torch (signal 11)"),
        (RAISE, "x failed in a trial with this torch (AttributeError: 'Tensor' object has no attribute 'nonsense')"),
        (OTHER_VALUE, "x failed in a trial with this torch (its values differ from those of the CPU)"),
        (OTHER_GRAPH, "x failed in a trial with this torch (its graphs differ from those of the CPU)"),
    ],
)
def test_nothing_is_emulated_where_a_canary_fails(tmp_path: Path, trials: Trials, program: str, said: str) -> None:
    assert trials.verdict(f"Canary('x', {program})", tmp_path) == (said, {})


def test_an_ability_that_crashes_is_left_out_and_the_others_are_tried_all_the_same(
    tmp_path: Path, trials: Trials
) -> None:
    crashes = f"Canary('streams', {CRASH}, needed=False)"
    raises = f"Canary('user-written Triton kernels', {RAISE}, needed=False)"
    off, without = trials.verdict(f"{crashes}, {raises}", tmp_path)
    assert off == ""
    assert without["streams"] == "signal 11"
    assert without["user-written Triton kernels"].startswith("AttributeError")


@pytest.fixture
def host(warm_host: WarmHost) -> WarmHost:
    return warm_host


def run(host: WarmHost, tmp_path: Path, text: str, depth: Depth = Depth.DYNAMO, emulation_failed: str = "") -> Outcome:
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(text))
    return host.run(Job(str(file), depth, timeout_s=300.0, emulation_failed=emulation_failed))


def messages(outcome: Outcome, code: str) -> list[str]:
    return [finding.message for finding in outcome.findings if finding.code == code]


FALLS_BACK = """
import ctypes
import torch

@torch.compile
def f(x):
    print("a break")
    return x + 1

device = "cuda" if torch.cuda.is_available() else "cpu"
f(torch.ones(3, device=device))
if device == "cuda":
    {on_gpu}
"""


def test_a_program_that_crashes_on_the_emulated_device_is_shown_without_it(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, FALLS_BACK.format(on_gpu="ctypes.string_at(0)"))
    assert outcome.status is Status.OK
    assert {finding.code for finding in outcome.findings} == {"GB0059", "no-stand-in"}
    (said,) = messages(outcome, "no-stand-in")
    assert said.endswith("cannot be emulated: the program crashed on the emulated device (signal 11).")


def test_so_is_one_that_asks_for_what_the_device_lacks(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, FALLS_BACK.format(on_gpu="torch.cuda.CUDAGraph()"))
    assert outcome.status is Status.OK
    assert len(messages(outcome, "GB0059")) == 1
    assert "CUDAGraph" in messages(outcome, "no-stand-in")[0]


NEEDS_GPU = """
import torch

@torch.compile
def f(x):
    print("a break")
    return x + 1

f(torch.ones(3, device="cuda"))
{lacking}
"""


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        (
            "torch._cslt_compress(torch.ones(32, 32, device='cuda', dtype=torch.half))",
            "Could not run 'aten::_cslt_compress'",
        ),
    ],
)
def test_one_that_cannot_run_without_a_gpu_keeps_what_the_emulation_found(
    host: WarmHost, tmp_path: Path, lacking: str, words: str
) -> None:
    outcome = run(host, tmp_path, NEEDS_GPU.format(lacking=lacking))
    assert outcome.status is Status.RAISED
    assert len(messages(outcome, "GB0059")) == 1
    (error,) = messages(outcome, "run-error")
    assert error.startswith("On the emulated CUDA device, the program raised") and words in error
    assert any("may be the cause of this program's error" in note for note in outcome.notes)


PRODUCTS = """
import torch

a, b = torch.randn(3, 4, dtype=torch.bfloat16), torch.randn(4, 2, dtype=torch.bfloat16)
single = torch.mm(a.cuda(), b.cuda(), out_dtype=torch.float32)
batched = torch.bmm(a.cuda()[None], b.cuda()[None], out_dtype=torch.float32)[0]
added = torch.addmm(torch.ones(2).cuda(), a.cuda(), b.cuda(), out_dtype=torch.float32, beta=2)
for product in (single, batched, added - 2):
    assert product.device.type == "cuda" and product.dtype is torch.float32
    torch.testing.assert_close(product.cpu(), a.float() @ b.float())
"""


def test_products_with_another_dtype_have_the_values_of_the_cpu(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, PRODUCTS)
    assert outcome.status is Status.OK, outcome.output


def test_an_error_of_the_program_itself_is_not_blamed_on_the_device(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(host, tmp_path, FALLS_BACK.format(on_gpu="raise ValueError('the data are wrong')"))
    assert outcome.status is Status.RAISED
    assert messages(outcome, "run-error") and outcome.notes == ()
    assert messages(outcome, "cpu-for-gpu")


NEEDS_KERNELS = (
    FALLS_BACK.replace('print("a break")', "x = x * 2")
    + """
from torch._dynamo.utils import counters
if device == "cpu":
    print("graphs compiled by Inductor:", counters["inductor"]["fxgraph_cache_miss"] + counters["inductor"]["fxgraph_cache_hit"])
"""
)


def test_without_the_emulation_a_program_is_compiled_as_far_as_asked(host: WarmHost, tmp_path: Path) -> None:
    text = NEEDS_KERNELS.format(on_gpu="pass")
    outcome = run(host, tmp_path, text, Depth.INDUCTOR, emulation_failed="it was tried before")
    assert "graphs compiled by Inductor: 1" in outcome.output


def test_a_run_that_is_not_to_emulate_says_why(host: WarmHost, tmp_path: Path) -> None:
    outcome = run(
        host, tmp_path, FALLS_BACK.format(on_gpu="ctypes.string_at(0)"), emulation_failed="it was tried before"
    )
    assert outcome.status is Status.OK
    assert messages(outcome, "no-stand-in") == [
        "The GPU that this program uses cannot be emulated: it was tried before."
    ]
