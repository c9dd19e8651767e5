"""Finds values of compiled code that differ from eager by more than rounding, and graphs that could not be compared."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.guard_sources import plain_source
from compile_lens.analysis.outcome_parts import ComparedGraphs as ComparedGraphs
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.trace.comparison import Agreement, ComparedValue, Comparison
from compile_lens.trace.report import Compilation, CompileReport

CODE = "wrong-numbers"
NOT_COMPARED = "not-compared"
NOT_FINITE = {"nan": "NaN", "inf": "infinity", "-inf": "-infinity"}
# torch's short names of dtypes, as graphs are printed with (torch/utils/_dtype_abbrs.py, torch 2.13)
SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}


def count_compared(report: CompileReport) -> ComparedGraphs:
    """The graphs of a run."""
    order = list(Agreement)
    worst: dict[str, Agreement] = {}
    for comparison in report.comparisons:
        known = worst.get(comparison.compile_id, Agreement.BITWISE)
        worst[comparison.compile_id] = max(known, comparison.agreement, key=order.index)
    counts = Counter(worst.values())
    return ComparedGraphs(*(counts[agreement] for agreement in order))


def find_wrong_numbers(context: RunContext) -> Iterator[Finding]:
    """One finding per line that computes the first wrong value of a graph, and one per function that could not be compared."""
    report, sources = context.report, context.sources
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    wrong: dict[Place, list[Comparison]] = {}
    skipped: dict[tuple[Place, str], list[Comparison]] = {}
    known: set[str] = set()
    for comparison in report.comparisons:
        compilation = compilations.get(comparison.compile_id)
        if comparison.agreement is Agreement.WRONG and comparison.values:
            # later wrong values in the same graph follow from the first
            if comparison.compile_id not in known:
                known.add(comparison.compile_id)
                wrong.setdefault(_place(comparison.values[0], compilation, sources), []).append(comparison)
        elif comparison.agreement is Agreement.NOT_COMPARED and compilation is not None:
            key = function_place(compilation.file, compilation.line, sources), comparison.reason
            skipped.setdefault(key, []).append(comparison)
    for place, comparisons in wrong.items():
        yield _wrong(place, comparisons, sources)
    for (place, reason), comparisons in skipped.items():
        if sources.is_own(place.file):
            yield _not_compared(place, reason, comparisons)


def _wrong(place: Place, comparisons: list[Comparison], sources: Sources) -> Finding:
    first = comparisons[0]
    value = first.values[0]
    return Finding(
        code=CODE,
        kind=Kind.WRONG_NUMBERS,
        severity=Severity.ERROR,
        message=f"{_subject(value)} {_amount(value.facts)}.",
        place=place,
        explanation=_evidence(first, value),
        hints=(
            'Compile with `backend="aot_eager"`: if the values are right then, the error is in Inductor, else in AOTAutograd.',
            "Put `torch.compiler.disable` around the line to run it in eager until the bug is fixed.",
        ),
        count=len(comparisons),
        frames=tuple(dict.fromkeys(comparison.compile_id for comparison in comparisons)),
        call_path=call_path(value.stack, sources),
    )


def _not_compared(place: Place, reason: str, comparisons: list[Comparison]) -> Finding:
    return Finding(
        code=NOT_COMPARED,
        kind=Kind.WRONG_NUMBERS,
        severity=Severity.HINT,
        message=f"The outputs were not compared with eager: {reason.rstrip('.')}.",
        place=place,
        explanation="They may be right or wrong.",
        count=len(comparisons),
        frames=tuple(dict.fromkeys(comparison.compile_id for comparison in comparisons)),
    )


def _place(value: ComparedValue, compilation: Compilation | None, sources: Sources) -> Place:
    own = sources.deepest_own(value.stack)
    # a changed input and a gradient belong to the whole function
    if own is not None and value.what == "output":
        return sources.place_of(own)
    if compilation is not None:
        return function_place(compilation.file, compilation.line, sources)
    return sources.own_place(value.stack)


def _subject(value: ComparedValue) -> str:
    if value.what == "gradient":
        return f"The gradient of `{plain_source(value.source) or value.name}` differs from eager's:"
    if value.what == "input":
        return (
            f"The compiled code changes `{plain_source(value.source) or value.name}` to a different value than eager:"
        )
    return "The compiled code computes a different value than eager:"


def _amount(facts: dict[str, Any]) -> str:
    if "compiled_dtype" in facts:
        return f"{_type(facts, 'compiled_')} instead of {_type(facts)}"
    if "max_absolute" not in facts:
        return f"{facts.get('compiled')} instead of {facts.get('eager')}"
    if not _is_finite(facts["max_absolute"]):
        return f"{number_text(facts['compiled'])} where eager has {number_text(facts['eager'])}"
    words = f"off by up to {number_text(facts['max_absolute'])}"
    if "rmse_eager" in facts:
        return (
            f"{words} (mean error {number_text(facts['rmse_compiled'])}, in eager {number_text(facts['rmse_eager'])})"
        )
    return words


def _evidence(comparison: Comparison, value: ComparedValue) -> str:
    facts = value.facts
    lines = []
    if "differ" in facts:
        at = f"[{', '.join(map(str, facts['worst_at']))}]" if facts["worst_at"] else "the only element"
        exact = f", {number_text(facts['reference'])} in fp64" if "reference" in facts else ""
        lines.append(
            f"{facts['differ']} of {facts['count']} elements of {value.what} {value.index} (`{value.name}`, {_type(facts)}) differ,"
            f" in call {comparison.call} of the graph. The worst, {at}, is {number_text(facts['compiled'])} compiled,"
            f" {number_text(facts['eager'])} in eager{exact}{relative_error(facts)}."
        )
    if comparison.worse > 1:
        more = comparison.worse - 1
        lines.append(
            f"{more} more {'value' if more == 1 else 'values'} of the graph {'is' if more == 1 else 'are'} wrong."
        )
    lines.append(
        "By torch's own test a value is wrong if its mean error against an fp64 reference is more than two to three times that of eager."
        if comparison.has_reference
        else "There is no fp64 reference to measure rounding by. The error exceeds torch's tolerance."
    )
    return " ".join(lines)


def relative_error(facts: dict[str, Any]) -> str:
    """The relative error of the worst element; '' where eager has 0, and where a number of the two is none (NaN, complex)."""
    off, eager = facts["max_absolute"], facts["eager"]
    if not _is_finite(off) or not _is_finite(eager) or not eager:
        return ""
    return f": a relative error of {number_text(float(off) / abs(eager))}"


def _type(facts: dict[str, Any], prefix: str = "") -> str:
    name = str(facts[f"{prefix}dtype"])
    letters = name.rstrip("0123456789")
    short = SHORT.get(letters, letters) + name[len(letters) :]
    return f"{short}[{', '.join(map(str, facts[f'{prefix}shape']))}]"


def _is_finite(number: float | str) -> bool:
    """Whether a difference is a number: NaN or infinity on one side alone makes it text, or the largest float64."""
    return not isinstance(number, str) and abs(number) < sys.float_info.max


def number_text(number: float | str) -> str:
    """Three digits of a number; the word for one that is not finite."""
    if isinstance(number, float):
        return f"{number:.3g}"
    return NOT_FINITE.get(str(number), str(number))
