"""What is tried with each torch on each Python: the doctor, the emulated GPU, programs, repros, a bisection, explanations."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from tests.compat.environments import Interpreter, numbers
from tests.compat.fixtures import CODES_SINCE, check_fixtures, without_code
from tests.compat.programs import check_programs
from tests.compat.results import Check, Deviation
from tests.repro.planted_bugs import BUGS

import test_gpu_stand_in
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.tables import open_tables
from compile_lens.pipeline.doctor import CheckState, examine
from compile_lens.repro.bisect import BisectOptions, bisect
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.selection import Selection
from compile_lens.repro.write import Request, write_repro
from compile_lens.workers.caches import cache_root
from compile_lens.workers.environment_report import ask_environment
from compile_lens.workers.extraction import ExtractionError, extract_tables, find_torch
from compile_lens.workers.job import Job
from replay import program, replay
from test_fixtures import FOLDER
from warm_host import WarmHost

REPROS = ("break_print", "recompile_size", "error_fullgraph")
BUG = "relu-accuracy"
# what a user writes to have one of each kind explained
EXPLAINED = {
    KnowledgeKind.LOG: "TORCH_LOGS=fusion",
    KnowledgeKind.ENVIRONMENT: "TORCHINDUCTOR_CACHE_DIR",
    KnowledgeKind.OPTION: "torch._inductor.config.max_autotune",
    KnowledgeKind.ARGUMENT: "fullgraph",
    KnowledgeKind.MODE: "reduce-overhead",
    KnowledgeKind.BACKEND: "aot_eager",
    KnowledgeKind.FUNCTION: "torch.compile",
    KnowledgeKind.CODE: "GB0059",
    KnowledgeKind.OPERATOR: "aten.native_layer_norm",
    KnowledgeKind.IR: "Pointwise",
    KnowledgeKind.OPS: "ops.index_expr",
    KnowledgeKind.VIRTUALIZED: "V.graph",
    KnowledgeKind.VARIABLE: "TensorVariable",
    KnowledgeKind.GUARD: "TENSOR_MATCH",
    KnowledgeKind.FX: "call_function",
    KnowledgeKind.TRITON: "tl.load",
    KnowledgeKind.CODEGEN: "buf0",
    KnowledgeKind.ARTIFACT: "inductor_output_code",
    KnowledgeKind.FILE: "output_code.py",
    KnowledgeKind.BISECT: "inductor/joint_graph_passes",
    KnowledgeKind.STAGE: "pipeline",
}


def run_checks(interpreter: Interpreter, wanted: Collection[str]) -> Iterator[Check]:
    """Each check that is ``wanted`` (none: all), with one host for those that run a file."""
    host = WarmHost(python=interpreter.path)
    checks: dict[str, Callable[[], Check]] = {
        "doctor": lambda: check_doctor(interpreter),
        "emulated GPU": lambda: check_emulated_gpu(host, interpreter),
        "fixtures": lambda: check_fixtures(host, interpreter, _missing(interpreter)),
        "programs": lambda: check_programs(host, interpreter),
        "repros": lambda: check_repros(host),
        "bisection": lambda: check_bisection(host),
        "explanations": lambda: check_explanations(interpreter),
    }
    try:
        for name, check in checks.items():
            if not wanted or name in wanted:
                yield check()
    finally:
        host.close()


def check_doctor(interpreter: Interpreter) -> Check:
    """No problem and no warning but those of this machine (``CXX``, the sandbox, caches)."""
    facts = asyncio.run(ask_environment(interpreter.path, os.environ))
    rows = examine(facts, cache_root(os.environ))
    of_torch = [row for row in rows if row.name in ("Python", "torch", "Dynamo", "torch internals")]
    return Check(
        "doctor",
        len(of_torch),
        tuple(Deviation(row.name, has=row.says) for row in of_torch if row.state is not CheckState.OK),
    )


def check_emulated_gpu(host: WarmHost, interpreter: Interpreter) -> Check:
    """Programs recorded on a GPU with torch 2.11: the same codes at the same lines on the emulated device."""
    with_codes = numbers(interpreter.torch) >= CODES_SINCE
    wrong = []
    for name in test_gpu_stand_in.PROGRAMS:
        there = _of_dynamo(replay("gpu-programs", name))
        with tempfile.TemporaryDirectory() as folder:
            here = _of_dynamo(test_gpu_stand_in.run(host, Path(folder), program("gpu-programs", name)))
        only_there, only_here = test_gpu_stand_in.OTHERWISE.get(name, (set(), set(), ""))[:2]
        expected = (there - only_there) | only_here
        if not with_codes:
            expected = {(without_code(code), line) for code, line in expected}
        if here != expected:
            wrong.append(Deviation(name, _lines(expected - here), _lines(here - expected)))
    return Check("emulated GPU", len(test_gpu_stand_in.PROGRAMS), tuple(wrong))


def _lines(findings: set[tuple[str, int]]) -> str:
    return ", ".join(f"{line} {code}" for code, line in sorted(findings, key=lambda each: (each[1], each[0])))


def _of_dynamo(outcome: test_gpu_stand_in.Outcome) -> set[tuple[str, int]]:
    return {(finding.code, finding.place.line) for finding in test_gpu_stand_in.of_dynamo(outcome)}


def check_repros(host: WarmHost) -> Check:
    """A repro of a break, of a recompile and of an error, each run."""
    wrong = []
    for name in REPROS:
        with tempfile.TemporaryDirectory() as folder:
            job = Job(str(FOLDER / f"{name}.py"), cwd=folder, timeout_s=300.0)
            request = Request(job, Selection(), Path(folder) / "repro.py")
            try:
                written = host.wait_for(write_repro(host.shared(), request))
            except CannotWrite as problem:
                wrong.append(Deviation(name, has=str(problem)))
            else:
                wrong += [] if written.reproduces else [Deviation(name, has=written.sentence())]
    return Check("repros", len(REPROS), tuple(wrong))


def check_bisection(host: WarmHost) -> Check:
    """A bisection of a bug that Inductor can be told to have."""
    bug = BUGS[BUG]
    with tempfile.TemporaryDirectory() as folder:
        repro = Path(folder) / "repro.py"
        repro.write_text(bug.text(), encoding="utf-8")
        found = host.wait_for(bisect(host.shared(), repro, BisectOptions(ablate=False)))
    verdict = found.verdict
    reached = verdict and (verdict.backend, verdict.subsystem)
    wrong = () if reached == bug.verdict[:2] else (Deviation(BUG, has=str(verdict or found.sentence)),)
    return Check("bisection", 1, wrong)


def check_explanations(interpreter: Interpreter) -> Check:
    """The installed torch is read, and one name of each kind explained from it."""
    torch = find_torch(interpreter.path)
    if torch is None:
        return Check("explanations", 0, (Deviation("torch", has="was not found on disk"),))
    try:
        knowledge = Knowledge(open_tables(asyncio.run(extract_tables(torch))))
    except ExtractionError as error:
        return Check("explanations", 0, (Deviation("torch", has=str(error)),))
    wrong = [
        Deviation(written, has="is not explained")
        for kind, written in EXPLAINED.items()
        if not any(entry.kind is kind and entry.summary for entry in knowledge.find(written))
    ]
    return Check("explanations", len(EXPLAINED), tuple(wrong))


def _missing(interpreter: Interpreter) -> frozenset[str]:
    """Modules that some fixtures import and this interpreter lacks."""

    def lacks(module: str) -> bool:
        return (
            subprocess.run([interpreter.path, "-c", f"import {module}"], capture_output=True, check=False).returncode
            != 0
        )

    return frozenset(filter(lacks, ("numpy", "transformers")))
