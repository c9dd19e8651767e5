"""Fixes that Dynamo accepts and that may fail after it, in AOTAutograd or in Inductor: these are also lowered before they are offered."""

from __future__ import annotations

from collections.abc import Mapping

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.fixes.results import ResultsCompared, compare_results

_TRACED = "AOTAutograd traces the function, which Dynamo did not"
_SIDES = "Inductor lowers each side, and both must give the same layout"
_SIZES = "Inductor decides about sizes and numbers that only the data determines"
_EFFECTS = "AOTAutograd removes what gives no result, unless it knows of the effect"

# what may fail, by rule; docs/fixes.md has the same table
WHY: Mapping[str, str] = {
    "allow-in-graph": _TRACED,
    "nonstrict-trace": _TRACED,
    "custom-op": "AOTAutograd and Inductor call its fake implementation",
    "cond": _SIDES,
    "cond-on-size": _SIDES,
    "while-loop": "Inductor lowers the condition and the body, whose results must be laid out as their arguments are",
    "capture-scalar-outputs": _SIZES,
    "capture-dynamic-output-shape-ops": _SIZES,
    "capture-both": _SIZES,
    "capture-and-check": _SIZES,
    "guard-or-false": _SIZES,
    "guard-or-true": _SIZES,
    "mark-unbacked": _SIZES,
    "print-in-graph": _EFFECTS,
    "assert-async": _EFFECTS,
    "assume-flag": _EFFECTS,
    "check-in-graph": _EFFECTS,
    "tell-in-graph": _EFFECTS,
    "keep-tensor-check": _EFFECTS,
    "keep-tensor-tell": _EFFECTS,
    "allow-rnn": "AOTAutograd takes the layers apart",
}


def what_fails(eager: Outcome, lowered: Outcome) -> str:
    """What is wrong with a program that was lowered, as a clause; '' where nothing is, or where nothing is known of its end."""
    if lowered.status not in (Status.OK, Status.RAISED):
        return ""
    errors = [finding.message for finding in lowered.unfiltered if finding.kind is Kind.COMPILE_ERROR]
    if errors:
        return errors[0].rstrip(".")
    if lowered.status is Status.RAISED:
        return "the program raises" if eager.status is Status.OK else ""
    compared: ResultsCompared = compare_results(eager.results, lowered.results)
    return f"results differ: {compared.why}" if compared.equal is False else ""
