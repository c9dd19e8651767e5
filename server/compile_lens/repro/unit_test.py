"""Writes a repro as a failing test in PyTorch's style, and knows where in PyTorch's repository it belongs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from compile_lens.analysis.finding import Finding
from compile_lens.repro.contract import Criterion
from compile_lens.repro.harness import WITH_RECORDS, run_pieces
from compile_lens.repro.script_runs import ScriptRuns
from compile_lens.repro.source import Script
from compile_lens.repro.templates import render
from compile_lens.repro.verify import CACHES
from compile_lens.repro.write import Written
from compile_lens.shown_text import one_line
from compile_lens.state.atomic_file import write_beside
from compile_lens.workers.host import Host
from compile_lens.workers.script import Ended

DYNAMO, INDUCTOR, AOT = '"module: dynamo"', '"module: inductor"', '"module: aotdispatch"'
# patterns of a break's or error's text → the test file of PyTorch (names as of torch 2.13)
DYNAMO_FILES = (
    (r"context manager|\bwith\b statement", "test_ctx_manager.py"),
    (r"higher.order|HigherOrderOperator|torch\.cond|\bvmap\b", "test_higher_order_ops.py"),
    (r"autograd\.Function", "test_autograd_function.py"),
    (r"generator|tp_iternext|\byield\b", "test_generator.py"),
    (r"\bexcept|raise|try/|exception", "test_exceptions.py"),
    (r"\bhook", "test_hooks.py"),
    (r"subclass", "test_subclasses.py"),
    (r"\.item\(\)|data-dependent|scalar", "test_unspec.py"),
    (r"nn\.Module|_parameters|_modules", "test_modules.py"),
    (r"skipped function|logging|print|builtin", "test_reorder_logs.py"),
)
STAGE_FILES = {
    "fake tensors": ("test/test_fake_tensor.py", '"module: meta tensors"'),
    "aot": ("test/functorch/test_aotdispatch.py", AOT),
    "backend": ("test/dynamo/test_backends.py", DYNAMO),
    "inductor lowering": ("test/inductor/test_torchinductor.py", INDUCTOR),
    "inductor codegen": ("test/inductor/test_torchinductor.py", INDUCTOR),
    "c++": ("test/inductor/test_cpu_repro.py", INDUCTOR),
    "triton": ("test/inductor/test_cuda_repro.py", INDUCTOR),
}
# in an environment that says CI, torch's run_tests wants packages of PyTorch's own CI (common_utils.py of torch 2.13)
ALONE = {**CACHES, "CI": ""}
NO_EXPECTTEST = "No module named 'expecttest'"


@dataclass(frozen=True, slots=True)
class UnitTest:
    """A test on disk. ``belongs`` is the file in PyTorch's repository; ``ended`` is its run, or None if it did not run.

    ``fails``: it fails because of the problem; ``why`` is a sentence that says why it does not.
    """

    file: Path
    belongs: str
    ended: Ended | None = None
    fails: bool = False
    why: str = ""


def place_in_pytorch(finding: Finding | None, criterion: Criterion) -> tuple[str, str]:
    """The file in PyTorch's repository, and the owner label of its first line."""
    if criterion is Criterion.RECOMPILES:
        return "test/dynamo/test_recompiles.py", DYNAMO
    if finding is not None and finding.stage in STAGE_FILES:
        return STAGE_FILES[finding.stage]
    if criterion in (Criterion.BREAKS, Criterion.RAISES):
        words = f"{finding.message} {finding.explanation} {finding.detail}" if finding is not None else ""
        if finding is not None and finding.code == "data-dependent-error":
            return "test/test_dynamic_shapes.py", '"oncall: jit"'
        for pattern, file in DYNAMO_FILES:
            if re.search(pattern, words):
                return f"test/dynamo/{file}", DYNAMO
        return "test/dynamo/test_repros.py", DYNAMO
    return "test/inductor/test_torchinductor.py", INDUCTOR


def unit_test_text(written: Written) -> tuple[str, str]:
    """The text of the test, and the file in which it belongs."""
    script, criterion = written.script, written.expected.criterion
    belongs, owner = place_in_pytorch(written.finding, criterion)
    from_imports = [line for line in script.imports.splitlines() if line.startswith("from ") and "pathlib" not in line]
    gradients = script.backward and criterion not in WITH_RECORDS
    text = render(
        "unit_test",
        owner=owner,
        title=one_line(written.title),
        belongs=belongs,
        future=any("__future__" in line for line in from_imports),
        modules=sorted({"contextlib"} | {line.split()[1] for line in _needed_imports(script)}),
        uses_path=bool(script.saved),
        torch_modules=(),
        other_imports=[line for line in from_imports if "__future__" not in line],
        subject=script.subject,
        pieces=[*run_pieces(gradients), "eager"],
        gradients=gradients,
        modes=script.modes,
        changes=script.changes,
        name=_name(written),
        criterion=criterion.value,
    )
    return f"{text}\n", belongs


async def write_unit_test(host: Host, written: Written, out: Path, timeout_s: float) -> UnitTest:
    """Write the test for a repro, run it, and check that it fails for the same reason. Raises OSError and HostError."""
    test = UnitTest(out, _write_text(written, out))
    ended = await ScriptRuns(host, written.job).run(out, timeout_s, ALONE)
    test = replace(test, ended=ended)
    if NO_EXPECTTEST in ended.output:
        return replace(
            test, why="PyTorch's TestCase needs the package expecttest, which is not installed with this torch."
        )
    if ended.timed_out:
        return replace(test, why=f"The test was stopped after {ended.seconds:.0f} s.")
    if ended.code == 0:
        return replace(test, why="The test passes.")
    if not _is_the_problem(written, ended.output):
        return replace(test, why="The test fails, but for a different reason than the repro.")
    return replace(test, fails=True)


def _write_text(written: Written, out: Path) -> str:
    text, belongs = unit_test_text(written)
    write_beside(out, text)
    return belongs


def _is_the_problem(written: Written, output: str) -> bool:
    expected = written.expected
    if expected.criterion is Criterion.CRASHES:
        return "Ran 1 test" not in output
    if expected.criterion is Criterion.RAISES:
        return expected.constants["EXPECTED_ERROR"].strip("'\"") in output
    if expected.criterion is Criterion.BREAKS:
        return expected.constants["EXPECTED_BREAK"].strip("'\"") in output or "Unsupported" in output
    if expected.criterion is Criterion.RECOMPILES:
        return "RecompileError" in output or "recompile" in output
    return "AssertionError" in output or "ERROR: test_" in output


def _needed_imports(script: Script) -> list[str]:
    harness_only = {"os", "sys", "re", "json", "logging"}
    lines = [
        line
        for line in script.imports.splitlines()
        if line.startswith("import ") and not line.startswith("import torch")
    ]
    used = [line for line in lines if f"{line.split()[1].partition('.')[0]}." in script.subject]
    return [line for line in lines if line.split()[1] not in harness_only or line in used]


def _name(written: Written) -> str:
    about = written.finding.code if written.finding is not None else "agrees_with_eager"
    return re.sub(r"[^0-9a-z]+", "_", f"{written.expected.criterion.value}_{about}".lower()).strip("_")
