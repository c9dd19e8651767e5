"""Turns the verdict of a bisection into a finding at the user's line of the operation, if provenance has one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from compile_lens.agent.runtime.search_protocol import UserLine
from compile_lens.analysis.finding import Finding, Kind, Place, Related, Severity
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.repro.bisect_guide import reading
from compile_lens.repro.verdict import Bisection

CODE = "bisect-verdict"
# the current text of a line, counted from 1; '' if there is none
LineOf = Callable[[str, int], str]


def verdict_findings(found: Bisection, line_of: LineOf, knowledge: Knowledge) -> tuple[Finding, ...]:
    """One finding at the innermost user line that is unchanged; none without a verdict or such a line."""
    places = [(line, place) for line in found.source if (place := _place(line, line_of)) is not None]
    if found.verdict is None or not places:
        return ()
    read = reading(found.verdict, knowledge)
    (_, place), *callers = places
    called = [Related(place, f"called in `{line.function}`") for line, place in callers]
    written = [
        Related(Place(code.file, code.line, 1, code.line, 1), f"{code.label}: {code.name}") for code in found.places
    ]
    name = Path(found.repro).name
    explanation = (
        f"This is the verdict of a bisection of {name} with torch {found.torch}. Stage: {read.stage}. {read.meaning}"
    )
    return (
        Finding(
            code=CODE,
            kind=Kind.BISECT_VERDICT,
            severity=Severity.WARNING,
            message=f"Bisection of {name}: the fault is in {found.verdict}.",
            place=place,
            explanation=explanation.strip(),
            hints=tuple(_hints(found, read.advice, read.logs)),
            related=(*called, *written),
            stage=read.stage,
        ),
    )


def _hints(found: Bisection, advice: str, logs: tuple[str, ...]) -> list[str]:
    helping = [
        f"This option makes the problem go away: {switch.meaning} ({', '.join(switch.options)})."
        for switch in found.helping
    ]
    seen = f"`TORCH_LOGS={','.join(logs)}` logs this stage."
    again = f"After a change, run `compile-lens rebisect {Path(found.repro).name}` to see what is different."
    return [*([advice] if advice else []), *helping, seen, again]


def _place(line: UserLine, line_of: LineOf) -> Place | None:
    text = line_of(line.file, line.line)
    if not line.text or text.strip() != line.text:
        return None  # the line was edited
    start = len(text) - len(text.lstrip())
    return Place(line.file, line.line, start + 1, line.line, len(text.rstrip()) + 1)
