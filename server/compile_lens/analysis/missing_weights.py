"""Reports weights, configurations and tokenizers that are missing, and what replaced them so that the program could run."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Severity
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.analysis.stand_ins import stand_in_finding
from compile_lens.trace.stand_ins import MissingResource

RANDOM_WEIGHTS = "random-weights"
DEFAULT_CONFIGURATION = "default-configuration"
BYTE_TOKENIZER = "byte-tokenizer"
CHECKPOINT = "missing-checkpoint"
REAL = "To use the real ones, download them once into the hub's cache, or allow network access (`--allow-network`)."
SWITCH = (
    'To let the program raise instead, set `compileLens.run.missingWeights` to "off" or pass `--missing-weights off`.'
)
SAME = "Graph breaks, recompiles and guards do not depend on the values of weights. Numbers that the program computes are meaningless."
OTHER_SIZES = "Sizes may differ from those of the real model, and so may everything that depends on them."
SMALLER = (
    "The model was made smaller to fit into memory. What depends on its sizes or its number of layers (such as one recompile per"
    " layer) may differ."
)
BYTES = "Token ids and lengths differ from those of the real tokenizer. A recompile that a length causes may happen at a different length."
MAX_CHANGES = 3


def find_missing_weights(context: RunContext) -> Iterator[Finding]:
    """One finding for each line that loads something that is missing."""
    report, sources = context.report, context.sources
    for one in report.missing_resources:
        if one.what == "weights":
            yield _weights(one, sources)
        elif one.what == "configuration":
            message = f"The configuration `{one.name}` is not on this machine; {_replaced_by(one)}."
            yield _finding(DEFAULT_CONFIGURATION, Severity.WARNING, message, _of_sizes(one), one, sources)
        elif one.what == "tokenizer":
            message = f"The tokenizer `{one.name}` is not on this machine; `{one.replacement}` replaces it, with one token per byte."
            yield _finding(BYTE_TOKENIZER, Severity.WARNING, message, BYTES, one, sources)
        elif one.what == "checkpoint":
            message = f"The checkpoint `{one.name}` is not on this machine; what would be loaded from it keeps its initial values."
            yield _finding(CHECKPOINT, Severity.INFORMATION, message, SAME, one, sources)


def _weights(one: MissingResource, sources: Sources) -> Finding:
    is_exact = one.origin in ("given", "file", "constructor") and not one.changes
    severity = Severity.INFORMATION if is_exact else Severity.WARNING
    message = f"The weights of `{one.name}` are not on this machine; random ones replace them: {_model(one)}."
    explanation = " ".join(text for text in (SAME, _of_sizes(one)) if text)
    return _finding(RANDOM_WEIGHTS, severity, message, explanation, one, sources)


def _model(one: MissingResource) -> str:
    """``BertModel with the default BertConfig``, and how it was made smaller."""
    if one.origin == "constructor":
        return f"`{one.replacement}` as constructed"
    made = f"`{one.replacement}` with {_configuration(one)}"
    return f"{made}, made smaller ({_changes(one)})" if one.changes else made


def _replaced_by(one: MissingResource) -> str:
    smaller = f", made smaller ({_changes(one)})" if one.changes else ""
    return f"{_configuration(one)} replaces it{smaller}"


def _configuration(one: MissingResource) -> str:
    if one.origin == "given":
        return f"the program's own `{one.configuration}`"
    if one.origin == "file":
        return f"the `{one.configuration}` on this machine"
    inferred = " (inferred from the name)" if one.origin == "name" else ""
    return f"the default `{one.configuration}`{inferred}"


def _changes(one: MissingResource) -> str:
    shown = ", ".join(f"{name} {before} → {now}" for name, before, now in one.changes[:MAX_CHANGES])
    return f"{shown}, …" if len(one.changes) > MAX_CHANGES else shown


def _of_sizes(one: MissingResource) -> str:
    texts = (SMALLER if one.changes else "", OTHER_SIZES if one.origin in ("class", "name") else "")
    return " ".join(text for text in texts if text)


def _finding(
    code: str, severity: Severity, message: str, explanation: str, one: MissingResource, sources: Sources
) -> Finding:
    hints = (SWITCH,) if one.what == "checkpoint" else (REAL, SWITCH)
    return stand_in_finding(code, severity, message, explanation, one, sources, hints)
