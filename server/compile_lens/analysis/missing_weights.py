"""Weights, configurations and tokenizers that are not here, and what stands in for them, so that what comes after was analysed."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Severity
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.trace.report import Absent

RANDOM_WEIGHTS = "random-weights"
DEFAULT_CONFIGURATION = "default-configuration"
BYTE_TOKENIZER = "byte-tokenizer"
CHECKPOINT = "missing-checkpoint"
REAL = "The real ones are taken where they are: in the cache of the hub, or by a network that the run may use (`--allow-network`)."
SWITCH = (
    'To let the program raise instead, set `compileLens.run.missingWeights` to "off", or give `--missing-weights off`.'
)
SAME = "Graph breaks, recompiles and guards do not depend on the values of weights. Numbers that the program computes mean nothing."
OTHER_SIZES = "The sizes may be others than those of the real model, and so may be what depends on them."
SMALLER = (
    "It was made smaller since it would take too much memory. What depends on its sizes, or on how many layers it has (a recompile for each"
    " layer, for instance), may differ."
)
BYTES = (
    "The ids are none of the model's, and there are more of them: lengths, and what the program computes from the text, differ."
    " A recompile that is due to a length may come at another one."
)
MOST_CHANGES = 3


def find_missing_weights(context: RunContext) -> Iterator[Finding]:
    """One finding for each line that asked for something that is not here."""
    report, sources = context.report, context.sources
    for one in report.absent:
        if one.what == "weights":
            yield _weights(one, sources)
        elif one.what == "configuration":
            message = f"The configuration `{one.name}` is not here. {_stands_in(one)}"
            yield _finding(DEFAULT_CONFIGURATION, Severity.WARNING, message, _of_sizes(one), one, sources)
        elif one.what == "tokenizer":
            message = f"The tokenizer `{one.name}` is not here. `{one.made}` stands in, which needs no files: a token for each byte."
            yield _finding(BYTE_TOKENIZER, Severity.WARNING, message, BYTES, one, sources)
        elif one.what == "checkpoint":
            message = f"The checkpoint `{one.name}` is not here. What is loaded from it stays as it was made."
            yield _finding(CHECKPOINT, Severity.INFORMATION, message, SAME, one, sources)


def _weights(one: Absent, sources: Sources) -> Finding:
    is_exact = one.origin in ("given", "file", "constructor") and not one.changes
    severity = Severity.INFORMATION if is_exact else Severity.WARNING
    message = f"The weights of `{one.name}` are not here. Random ones stand in: {_model(one)}."
    explanation = " ".join(text for text in (SAME, _of_sizes(one)) if text)
    return _finding(RANDOM_WEIGHTS, severity, message, explanation, one, sources)


def _model(one: Absent) -> str:
    """``BertModel with the default BertConfig``, and how it was made smaller."""
    if one.origin == "constructor":
        return f"`{one.made}` as its constructor makes it"
    made = f"`{one.made}` with {_configuration(one)}"
    return f"{made}, made smaller ({_changes(one)})" if one.changes else made


def _stands_in(one: Absent) -> str:
    smaller = f", made smaller ({_changes(one)})" if one.changes else ""
    words = _configuration(one)
    return f"{words[0].upper()}{words[1:]} stands in{smaller}."


def _configuration(one: Absent) -> str:
    if one.origin == "given":
        return f"the `{one.configuration}` that the program gives"
    if one.origin == "file":
        return f"the `{one.configuration}` that is here"
    concluded = " (concluded from the name)" if one.origin == "name" else ""
    return f"the default `{one.configuration}`{concluded}"


def _changes(one: Absent) -> str:
    shown = ", ".join(f"{name} {now} for {before}" for name, before, now in one.changes[:MOST_CHANGES])
    return f"{shown}, …" if len(one.changes) > MOST_CHANGES else shown


def _of_sizes(one: Absent) -> str:
    texts = (SMALLER if one.changes else "", OTHER_SIZES if one.origin in ("class", "name") else "")
    return " ".join(text for text in texts if text)


def _finding(code: str, severity: Severity, message: str, explanation: str, one: Absent, sources: Sources) -> Finding:
    return Finding(
        code=code,
        kind=Kind.STAND_IN,
        severity=severity,
        message=message,
        place=sources.own_place(one.stack),
        explanation=explanation,
        hints=(SWITCH,) if one.what == "checkpoint" else (REAL, SWITCH),
        call_path=call_path(one.stack, sources),
        detail=one.why,
    )
