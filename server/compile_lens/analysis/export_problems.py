"""Turns the problems that ``torch.export.draft_export`` worked around into findings, each at its line."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.error_stages import CONSTRAINT, DATA_DEPENDENT, EXPORT
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.guard_sources import named_size
from compile_lens.analysis.run_context import RunContext
from compile_lens.late_pattern import pattern
from compile_lens.trace.report import ExportProblem, ExportProblemKind

# "Eq(s17, 4)": a symbol of torch's, which says nothing to a user
EQUAL = pattern(r"Eq\(s\d+, (.+)\)$")
FAKE_KERNEL = (
    "Register a fake kernel with `@torch.library.register_fake` (`.register_fake` of a `custom_op`), and check it with"
    " `torch.library.opcheck`."
)


class _Words(Struct, frozen=True):
    code: str
    message: str
    explanation: str
    hints: tuple[str, ...]


def find_export_problems(context: RunContext) -> Iterator[Finding]:
    """One finding per place and problem. They are warnings: the export continued, as the explanation says."""
    report, sources = context.report, context.sources
    # an export that starts over records them again
    first: dict[tuple[Place, _Words], ExportProblem] = {}
    for problem in report.export_problems:
        own = sources.deepest_own(problem.stack)
        if own is not None:
            first.setdefault((sources.place_of(own), _words(problem)), problem)
    for (place, words), problem in first.items():
        yield Finding(
            code=words.code,
            kind=Kind.COMPILE_ERROR,
            severity=Severity.WARNING,
            message=f"draft_export: {words.message}.",
            place=place,
            explanation=f"Stage: {EXPORT.stage}.\n\n{words.explanation}",
            hints=words.hints,
            call_path=call_path(problem.stack, sources),
            stage=EXPORT.stage,
        )


def _words(problem: ExportProblem) -> _Words:
    operator = problem.subject.removesuffix(".default").replace(".", "::", 1)
    if problem.kind is ExportProblemKind.MISSING_FAKE_KERNEL:
        return _Words(
            EXPORT.code,
            f"`{operator}` has no fake kernel",
            "draft_export ran it with the example inputs, and treats its output sizes as unknown. A plain export fails here.",
            (FAKE_KERNEL,),
        )
    if problem.kind is ExportProblemKind.MISMATCHED_FAKE_KERNEL:
        return _Words(
            EXPORT.code,
            f"the fake kernel of `{operator}` is wrong: {problem.reason.rstrip('.!')}",
            "For the example inputs, the operator and its fake kernel return different results. draft_export used those of the operator.",
            (FAKE_KERNEL,),
        )
    if problem.kind is ExportProblemKind.DATA_DEPENDENT:
        return _Words(
            DATA_DEPENDENT.code,
            f"whether `{problem.subject}` holds depends on tensor values",
            f"draft_export used `{problem.reason}`, as for the example inputs, and the exported program asserts it."
            " A plain export fails here.",
            DATA_DEPENDENT.hints,
        )
    named = ", ".join(named_size(source) for source in problem.sources)
    value = EQUAL.match(problem.subject)
    return _Words(
        CONSTRAINT.code,
        f"this line restricts {named} to `{value[1] if value else problem.subject}`",
        "The requested dynamic shapes do not hold, so draft_export inferred others. A plain export fails.",
        ("Change this line so that it holds for every size, or declare the dimension as `Dim.AUTO` or `Dim.STATIC`.",),
    )
