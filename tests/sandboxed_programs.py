"""Writes docs/sandboxed-programs.md: what is found in real programs in each kind of sandbox, beside what is found without one.

``python -m tests.sandboxed_programs`` runs the examples, the fixtures and tiny models of ``transformers`` once per kind, each kind with
caches of its own; ``… NAME`` runs these alone, and keeps the other rows. It takes some minutes; ``tests/workers/test_sandbox.py`` does the
same with the examples each time.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.access import Access, SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from fixture_notation import depth_of, is_compared, is_varied

HERE = Path(__file__).parent
TABLE = HERE.parent / "docs" / "sandboxed-programs.md"
EXAMPLES, FIXTURES = HERE.parent / "examples", HERE / "fixtures"
# these are about what a sandbox refuses
ABOUT_IT = "error_refused_"
FULL = "full"
Found = tuple[str, tuple[tuple[object, ...], ...]]
HEAD = """\
# Real programs in the sandbox

`python -m tests.sandboxed_programs` wrote this page on Linux, with torch {torch}. Each program ran without
a sandbox and in each kind that the kernel enforces ([SECURITY.md](../SECURITY.md)), each time with its own caches. *Same* means that the
program ended in the same way, with findings of the same codes, messages, ranges and counts.

{same} of {all} programs have the same results in every kind.

| program | depth | end | findings | overlay | landlock |
|---|---|---|---|---|---|
"""


def programs(folder: Path) -> Iterator[Path]:
    """The files to run; models are written into ``folder``."""
    yield from sorted(EXAMPLES.glob("*.py"))
    yield from (file for file in sorted(FIXTURES.glob("[!_]*.py")) if not file.name.startswith(ABOUT_IT))
    try:
        from tests.test_models import MODELS, script_of
    except BaseException as error:  # pytest skips the module where there is no transformers
        print(f"without models: {error}", file=sys.stderr)
        return
    for model in MODELS:
        file = folder / f"{model.name}.py"
        file.write_text(script_of(model), encoding="utf-8")
        yield file


def job_of(file: Path, kind: str) -> Job:
    """How a fixture says that it is run; others are run as ``compile-lens check`` does."""
    text = file.read_text(encoding="utf-8")
    depth = Depth(depth_of(text)) if file.parent == FIXTURES else Depth.DYNAMO
    job = Job(str(file), depth=depth, timeout_s=300.0, compare=is_compared(text), access=Access.FULL)
    return (
        job
        if kind == FULL
        else replace(job, access=Access.SANDBOXED, sandbox=SandboxOptions(strongest=SandboxKind(kind), gpu=True))
    )


def found(outcome: Outcome) -> Found:
    """What must be the same."""
    findings = tuple((f.code, f.message, f.place, f.count) for f in outcome.findings)
    return outcome.status.value, findings


async def run_all(files: list[Path], kind: str, caches: str) -> list[Outcome]:
    """Run ``files`` in one kind of sandbox."""
    os.environ["COMPILE_LENS_CACHE_DIR"] = caches
    host, outcomes = Host(sys.executable), []
    try:
        for file in files:
            outcome = await analyze(host, job_of(file, kind))
            assert kind in (FULL, outcome.sandbox), outcome
            outcomes.append(outcome)
            print(kind, file.stem, outcome.status.value, len(outcome.findings), file=sys.stderr, flush=True)
    finally:
        await host.close()
    return outcomes


def row(file: Path, without: Outcome, within: list[Outcome]) -> str:
    """What was found in one program, and where it was the same."""
    codes = Counter(finding.code for finding in without.findings)
    told = ", ".join(f"`{code}`{f' × {count}' if count > 1 else ''}" for code, count in sorted(codes.items()))
    cells = " | ".join("same" if found(outcome) == found(without) else "**differs**" for outcome in within)
    return f"| `{file.stem}` | {without.depth} | {without.status.value} | {told} | {cells} |\n"


def known_rows() -> dict[str, str]:
    """The rows of an earlier run, by program."""
    lines = TABLE.read_text(encoding="utf-8").splitlines(keepends=True) if TABLE.exists() else []
    return {line.split("`")[1]: line for line in lines if line.startswith("| `")}


async def main(names: list[str]) -> None:
    """Run everything, or the programs of these names, and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        files = [file for file in programs(Path(folder)) if not is_varied(file.read_text(encoding="utf-8"))]
        chosen = [file for file in files if not names or file.stem in names]
        kinds = (FULL, SandboxKind.OVERLAY.value, SandboxKind.LANDLOCK.value)
        without, *within = [await run_all(chosen, kind, f"{folder}/caches-{kind}") for kind in kinds]
    rows = known_rows() if names else {}
    for file, outcome, others in zip(chosen, without, zip(*within, strict=True), strict=True):
        rows[file.stem] = row(file, outcome, list(others))
    ordered = [rows[file.stem] for file in files if file.stem in rows]
    alike = sum("**differs**" not in line for line in ordered)
    head = HEAD.format(torch=without[0].torch, same=alike, all=len(ordered))
    TABLE.write_text(head + "".join(ordered), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
