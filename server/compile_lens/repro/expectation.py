"""What a repro must show to reproduce a finding: its criterion, and the constants that its harness compares with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from compile_lens.analysis.device_errors import CRASH
from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.wrong_numbers import CODE as WRONG_NUMBERS
from compile_lens.repro.contract import Criterion
from compile_lens.trace.break_text import parse_break
from compile_lens.trace.failure_text import own_words_of
from compile_lens.trace.report import CompileReport

# parts of a message that differ between processes: addresses, numbers, paths
CHANGES = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|/\S+")
ADDRESS = re.compile(r"\d{9,}")
# the error of an operator, in Dynamo's sentence around it (torch/_dynamo/utils.py, ``get_fake_value``)
INNER = re.compile(r"(?<=: got )\w+\(['\"].+|\berror: .+")
MAX_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class Expectation:
    """``constants`` are Python expressions by name; ``phrase`` says what is expected; ``stage`` is that of the finding.

    ``keeps_earlier``: the repro needs the calls before the one in question.
    """

    criterion: Criterion
    phrase: str
    constants: Mapping[str, str] = field(default_factory=dict)
    stage: str = ""
    note: str = ""
    keeps_earlier: bool = False


def expect(finding: Finding | None, report: CompileReport, criterion: Criterion | None = None) -> Expectation:
    """What a repro of ``finding`` must show; without a finding, any difference from eager. ``criterion`` is the user's choice."""
    if finding is not None and criterion is None:
        own = _BY_CRITERION.get(finding.kind.row.repro)
        if own is not None:
            return own(finding, report)
        if finding.code == CRASH:
            return Expectation(Criterion.CRASHES, "a signal ends the process", stage=finding.stage)
    if criterion is Criterion.DIFFERS or (finding is not None and finding.code == WRONG_NUMBERS):
        return Expectation(Criterion.DIFFERS, "outputs or gradients differ from eager's")
    note = ""
    if finding is not None and finding.kind.row.is_neutral:
        note = f"{finding.kind.row.title} is not an error, so the repro compares compiled code with eager."
    return Expectation(
        Criterion.ANY, "the compiled code raises an error that eager does not, or its results differ", note=note
    )


def _of_break(finding: Finding, report: CompileReport) -> Expectation:
    for broken in report.breaks:
        if broken.compile_id in finding.frames and finding.code in (broken.reason.code, "graph-break"):
            # the harness sees torch's own text, whose last line of user code is where it broke
            own = parse_break(broken.text).stack or broken.stack
            line = next((frame.text for frame in reversed(own) if frame.text and frame.text in broken.text), "")
            known = finding.code.lower() if broken.reason.code else broken.reason.title.splitlines()[0]
            constants = {"EXPECTED_BREAK": repr(known), "EXPECTED_LINE": repr(line)}
            return Expectation(Criterion.BREAKS, f"a graph break {known} at `{line}`", constants)
    return Expectation(
        Criterion.ANY,
        "the compiled code raises an error that eager does not, or its results differ",
        note="The run has no record of the break.",
    )


def _of_recompile(finding: Finding, report: CompileReport) -> Expectation:
    for compilation in report.compilations:
        recompile = compilation.recompile
        if compilation.compile_id not in finding.frames or recompile is None or not recompile.failures:
            continue
        guard = recompile.failures[0].guard
        pattern = ADDRESS.sub(r"\\d+", re.escape(guard)).replace(r"\ ", " ")
        frame = compilation.compile_id.rpartition("/")[0]
        siblings = [
            c for c in report.compilations if c.recompile is not None and c.compile_id.rpartition("/")[0] == frame
        ]
        # the limit counts recompiles for any reason
        is_limit = finding.kind is Kind.RECOMPILE_LIMIT
        constants = {
            "EXPECTED_GUARD": _raw("" if is_limit else pattern),
            "AT_LEAST": str(len(siblings) if is_limit else 1),
        }
        times = "once" if len(siblings) == 1 else f"{len(siblings)} times"
        phrase = f"it recompiles {times}" if is_limit else f"it recompiles because of `{guard}`"
        return Expectation(Criterion.RECOMPILES, phrase, constants, keeps_earlier=True)
    return Expectation(
        Criterion.ANY,
        "the compiled code raises an error that eager does not, or its results differ",
        note="The run has no record of the recompile.",
    )


def _of_error(finding: Finding, report: CompileReport) -> Expectation:
    for compilation in report.compilations:
        if compilation.failure is not None and compilation.compile_id in finding.frames:
            return expect_error(compilation.failure.type, compilation.failure.message, finding.stage)
    for call in report.failed_calls:
        if not finding.frames:
            return expect_error(call.type, call.message, finding.stage)
    last = (finding.detail.strip().splitlines() or [""])[-1]
    type_name, _, message = last.partition(": ")
    return expect_error(type_name or "Exception", message, finding.stage)


_BY_CRITERION = {
    Criterion.BREAKS.value: _of_break,
    Criterion.RECOMPILES.value: _of_recompile,
    Criterion.RAISES.value: _of_error,
}


def expect_error(type_name: str, message: str, stage: str = "") -> Expectation:
    """The exception ``type_name`` with the decisive lines of ``message``, in which numbers, addresses and paths match anything."""
    name = type_name.rpartition(".")[2]
    said = list(_decisive(own_words_of(message) or message))
    pattern = "(?s:.*)".join(_pattern(words) for words in said)
    constants = {"EXPECTED_ERROR": repr(name), "EXPECTED_MESSAGE": _raw(pattern)}
    first, *inner = said or [""]
    phrase = f"{name}: {first.removesuffix(':')} ({inner[-1]})" if inner else f"{name}: {first}"
    return Expectation(Criterion.RAISES, phrase, constants, stage)


def _decisive(words: str) -> Iterator[str]:
    """The first line, and the error inside it that a general first line only announces."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    if not lines:
        return
    yield lines[0][:MAX_MESSAGE]
    if lines[0].endswith(":") and len(lines) > 1:  # backend='mine' raised:
        yield lines[1][:MAX_MESSAGE]
    elif (inner := INNER.search(words, len(lines[0]))) is not None:
        yield inner[0].strip()[:MAX_MESSAGE]


def _pattern(words: str) -> str:
    pattern, at = "", 0
    for match in CHANGES.finditer(words):
        pattern += re.escape(words[at : match.start()]) + r"\S+"
        at = match.end()
    return (pattern + re.escape(words[at:])).replace(r"\ ", " ")


def _raw(pattern: str) -> str:
    """A pattern as a raw string literal if possible, otherwise its repr."""
    quote = '"' if '"' not in pattern else "'"
    plain = quote not in pattern and not pattern.endswith("\\") and pattern.isprintable()
    return f"r{quote}{pattern}{quote}" if plain else repr(pattern)
