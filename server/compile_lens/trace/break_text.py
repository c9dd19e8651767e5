"""Reads the text of ``dynamo_graph_break_reason``.

The forms, with the torch files that write them (2.6 to 2.13): ``log_graph_break`` in torch/_dynamo/symbolic_convert.py; the
skipped frame in torch/_dynamo/convert_frame.py; ``unimplemented_with_warning`` and ``format_graph_break_message`` in torch/_dynamo/exc.py.
"""

from __future__ import annotations

import functools
import re

from msgspec import Struct
from msgspec.structs import replace

from compile_lens.late_pattern import pattern
from compile_lens.trace.failure_text import message_of
from compile_lens.trace.report import BreakReason, StackFrame
from compile_lens.trace.stack_text import parse_stack

PLACE = pattern(r"^Graph break in user code at (?P<file>.+):(?P<line>\d+)$", re.MULTILINE)
REASON = pattern(r"^(?:Graph Break )?Reason: ", re.MULTILINE)
# the last one is that of a skipped frame up to torch 2.8
USER_STACK = pattern(
    r"^User code traceback:$|^The graph break occurred in the following user code:$|^Graph break: skip: from user code at:$",
    re.MULTILINE,
)
INTERNAL = pattern(r"^Traceback \(most recent call last\):$|^NoneType: None$|^={5,} most recent", re.MULTILINE)
ANOTHER = pattern(r"^\*\*\* While handling this graph break, another graph break occurred: \*\*\*$", re.MULTILINE)
ATTRIBUTION = pattern(r"^Stack variable source attribution:$", re.MULTILINE)
LINK = pattern(
    r"^[ \t]*For more details about this graph break, please visit: (https?://\S*?/(gb\d+)(?:\.html)?)\s*$",
    re.MULTILINE,
)
# where torch's page of a code is, or was: a message of the program's may hold a link of that form, too
HOMES_OF_CODES = pattern(
    r"https://(?:(?:meta-pytorch|pytorch-labs|pytorch)\.github\.io|(?:[a-z]+\.)?pytorch\.org|compile-graph-break-site\.vercel\.app)/"
)
# torch/_dynamo/exc.py, ``augment_exc_message_with_hop_name``: between the title and the explanation
OPERATOR = pattern(r"^\s*Higher Order Operator: ")
RAISED = pattern(r"^torch\._dynamo\.exc\.\w+: ", re.MULTILINE)
# what stands before the reason (torch/_dynamo/symbolic_convert.py, ``log_graph_break``, and ``break_graph_if_unsupported``)
PREAMBLE = pattern(
    r"^(?:Encountered graph break (?:when attempting to|that we cannot resume from)|Failed to handle graph break gracefully)"
)
SKIPS_REST = pattern(r"then skipping the rest of the function")
# ``unimplemented_with_warning`` writes the exception before it breaks the graph; its own reason comes in the next record
FORERUNNER = pattern(r"^WON'T CONVERT ")
EXCEPTION = pattern(r"^(?:[\w.]+\.)?(?P<words>[A-Z]\w*(?:: .*)?)$", re.MULTILINE)
SKIPPED = pattern(
    r"Skipping the (?:function|frame)|which results in a skip|graph break in loop|will skip tracing the frame"
)


class BreakText(Struct, frozen=True):
    """A parsed break: its reason, its place if the text says it, and the user stack that it prints."""

    reason: BreakReason
    file: str | None
    line: int | None
    stack: tuple[StackFrame, ...]


# torch/_dynamo/symbolic_convert.py, ``step``, up to torch 2.8: a break where tracing cannot go on compiles what stands before it
UNTOLD_RESTART = "Unknown fail_and_restart_analysis"
UNTOLD = BreakReason(
    title="torch does not say why",
    explanation="Before version 2.9, torch does not record a break after which it cannot resume, as in a `try` block. With "
    'TORCH_LOGS=+dynamo, the error below "step triggered compile" says what could not be traced.',
    hints=(),
    context="",
    code=None,
    url=None,
    skipped_frame=False,
    consequence="",
    skips_rest=True,
)
# torch/_dynamo/convert_frame.py, from torch 2.9: a break that makes Dynamo skip its frame is recorded, so that a frame which failed
# without one was compiled with `fullgraph=True`. Before, both leave the same records.
FIRST_WITH_SKIPS = (2, 9)
EITHER_WAY = "The frame falls back to eager; with `fullgraph=True`, the call fails instead. A trace of torch before 2.9 does not say which."
VERSION = pattern(r"(\d+)\.(\d+)")


def parse_unrecorded(message: str, torch: str) -> BreakReason | None:
    """The break behind the ``Unsupported`` that a frame failed with; None where the version ``torch`` would have recorded a break."""
    version = VERSION.match(torch)
    if version is not None and (int(version[1]), int(version[2])) >= FIRST_WITH_SKIPS:
        return None
    return replace(parse_reason(message), consequence=EITHER_WAY)


@functools.lru_cache(maxsize=256)
def parse_break(text: str) -> BreakText:
    """Parse the payload of one ``dynamo_graph_break_reason``. A frame that recompiles breaks again, in the same words."""
    if FORERUNNER.match(text):
        return _forerunner(text)
    place = PLACE.search(text)
    head, stack_text = _split(text)
    reason_at = REASON.search(head)
    raised = list(RAISED.finditer(text))
    if reason_at is None and raised:
        # the form of a skipped frame: the reason is the message of the exception at the text's end
        reason = replace(parse_reason(message_of(text[raised[-1].end() :])), skipped_frame=True)
    else:
        reason = parse_reason(head[reason_at.end() :] if reason_at else head)
    return BreakText(
        reason=reason,
        file=place["file"] if place else None,
        line=int(place["line"]) if place else None,
        stack=parse_stack(stack_text),
    )


def _forerunner(text: str) -> BreakText:
    raised = list(EXCEPTION.finditer(text))
    title = raised[-1]["words"] if raised else "torch gives no reason"
    reason = BreakReason(title, "", (), "", None, None, skipped_frame=False, consequence="", is_forerunner=True)
    return BreakText(reason, None, None, ())


def _split(text: str) -> tuple[str, str]:
    """What torch says, and the user stack after it; Dynamo's own traceback, at the end, is cut off."""
    marker = USER_STACK.search(text)
    if marker is None:
        internal = INTERNAL.search(text)
        return (text[: internal.start()], "") if internal else (text, "")
    rest = text[marker.end() :]
    internal = INTERNAL.search(rest)
    return text[: marker.start()], rest[: internal.start()] if internal else rest


def parse_reason(text: str) -> BreakReason:
    """Parse the message of a break, or of the ``Unsupported`` that a break raises under ``fullgraph=True``."""
    another = ANOTHER.search(text)
    first, consequence = (text[: another.start()], text[another.end() :]) if another else (text, "")
    attribution = ATTRIBUTION.search(first)
    body = first[: attribution.start()] if attribution else first
    sections = _sections(body)
    links = LINK.findall(body)
    url, code = links[-1] if links else ("", "")
    return BreakReason(
        title=sections.title,
        explanation=sections.explanation,
        hints=sections.hints,
        context=sections.context,
        code=code.upper() or None,
        url=url if HOMES_OF_CODES.match(url) else None,
        skipped_frame=bool(SKIPPED.search(text)),
        consequence=_sections(consequence).explanation if consequence else "",
        skips_rest=bool(SKIPS_REST.search(text)),
    )


class _Sections(Struct, frozen=True):
    title: str
    explanation: str
    hints: tuple[str, ...]
    context: str


def _sections(body: str) -> _Sections:
    """``format_graph_break_message``: a title line, then "  Explanation:", "  Hint:" (any number), "  Developer debug context:"."""
    titles: list[str] = []
    explanation: list[str] = []
    hints: list[list[str]] = []
    context: list[str] = []
    into: list[str] = titles
    for line in body.splitlines():
        label, _, rest = line.partition(": ")
        if label == "  Explanation":
            into = explanation
        elif label == "  Hint":
            hints.append([])
            into = hints[-1]
        elif label == "  Developer debug context":
            into = context
        elif line.startswith(" For more details about this graph break"):
            into = []
            continue
        else:
            # what follows the context, at the left edge, is no part of the message ("from user code:", …)
            if into is context and line and not line.startswith(" "):
                into = []
            into.append(line[4:] if line.startswith("    ") else line)
            continue
        into.append(rest)
    lines_of_title = (line.strip().removeprefix("Unsupported: ") for line in titles if not OPERATOR.match(line))
    named = [line for line in lines_of_title if line and not PREAMBLE.match(line)]
    return _Sections(
        title=named[-1] if explanation and named else " ".join(named[:1]),
        explanation=_joined(explanation),
        hints=tuple(_joined(hint) for hint in hints),
        context=_joined(context),
    )


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).strip()
