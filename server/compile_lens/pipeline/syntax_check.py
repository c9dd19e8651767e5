"""Finds syntax errors before anything runs: the user's Python reads the text, without torch and in milliseconds."""

from __future__ import annotations

import asyncio

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_context import Raised, RunContext
from compile_lens.analysis.run_errors import find_raised
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.tree import is_python, parse
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.report import StackFrame
from compile_lens.workers.job import Job
from compile_lens.workers.syntax_question import SyntaxProblem, ask_for_syntax_error

# characters, which this process reads in a few hundredths of a second
SHORT = 40_000


async def syntax_outcome(python: str, job: Job, text: str) -> Outcome | None:
    """A partial outcome with the syntax error of ``text``, or None if ``python`` can read it.

    The parser of this process is asked first about a short text, since it needs no other process, and lets nothing else run
    meanwhile. What it refuses may be fine for a newer Python, which is why the user's own decides.
    """
    problem = None if len(text) <= SHORT and is_python(text) else await ask_for_syntax_error(python, job.file, text)
    if problem is None:
        return None
    tree, report = await asyncio.to_thread(parse, text), ReportBuilder().report()
    context = RunContext(
        report,
        Sources(job.file, lambda file: tree if file == job.file else None),
        RegionIndex(report, job.file, tree),
        raised=_raised(problem, job.file),
    )
    findings = tuple(find_raised(context, ()))
    return Outcome(
        file=job.file,
        python=python,
        torch="",
        depth=job.depth.value,
        entry=job.entry,
        status=Status.RAISED,
        duration_s=0.0,
        findings=findings,
        unfiltered=findings,
        final=False,
    )


def _raised(problem: SyntaxProblem, file: str) -> Raised:
    """As the run itself reports it (agent/runtime/raised.py)."""
    frame = StackFrame(
        file,
        problem.line,
        "<module>",
        problem.text,
        column=problem.column,
        end_line=problem.end_line,
        end_column=problem.end_column,
    )
    return Raised(problem.type, "builtins", problem.message, (frame,), problem.formatted)
