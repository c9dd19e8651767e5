"""Reads what torch logs about CUDA graphs, in its ``cudagraphs`` log and its metrics.

The texts are those of torch/_inductor/cudagraph_utils.py, cudagraph_trees.py and scheduler.py (torch 2.6 to 2.13).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct

from compile_lens.late_pattern import pattern
from compile_lens.trace.report import LogLine, StackFrame
from compile_lens.trace.stack_text import parse_stack

SKIP = pattern(r"^(?:skipping|disabling) cudagraphs?\b")
LEAD = pattern(r"^(?:(?:skipping|disabling) cudagraphs? due to )+(?:\[['\"])?")
WHERE = pattern(r"\.?(?<!\s)\s*Found from\s*:?\s*(?:\n|  File).*$|['\"]\]$", re.DOTALL)
OPERATION = pattern(r"^    \S+: reason=(?P<reason>.+?), ir=(?P<ir>\w+)")
NO_CUDA_GRAPHS = "partition includes all ops when cudagraphs is disabled"
AGAIN = pattern(r"Re-recording function=\S+, (?:mode=\w+, )?reason=(?P<reason>.+)", re.DOTALL)
POINTER = pattern(r"data pointer changed from \d+ to (\d+)")
SAME_LINE = pattern(r"(?<=Found from) +File")
SIZES = pattern(
    r"recording a new graph for each distinct input size.*?observed (?P<number>\d+) distinct sizes", re.DOTALL
)
LIMIT = "exceeding max re-recording limit"


class Trouble(str, Enum):
    """What is wrong with the CUDA graphs of a call."""

    SKIPPED = "skipped"
    OUTSIDE = "outside"
    RECORDED_AGAIN = "recorded again"
    LIMIT = "limit"
    SIZES = "sizes"


class CudaGraphEvent(Struct, frozen=True):
    """One thing that torch said. ``origin`` leads to the line it is about, ``stack`` to the call of the moment; either may be empty.

    ``number`` tells recordings apart: a pointer, or how many sizes there were.
    """

    trouble: Trouble
    reason: str
    compile_id: str | None
    origin: tuple[StackFrame, ...] = ()
    stack: tuple[StackFrame, ...] = ()
    number: str = ""


def skip_of(text: str, compile_id: str | None, stack: tuple[StackFrame, ...] = ()) -> CudaGraphEvent:
    """The event of one reason that torch gives for using no CUDA graph."""
    trouble = Trouble.LIMIT if LIMIT in text else Trouble.SKIPPED
    reason = WHERE.sub("", LEAD.sub("", text)).strip().partition("\n")[0].rstrip(".")
    # some reasons have the stack on the line of their words
    return CudaGraphEvent(trouble, reason, compile_id, parse_stack(SAME_LINE.sub("\n  File", text)), stack)


def read_cuda_graph_log(lines: Iterable[LogLine]) -> Iterator[CudaGraphEvent]:
    """The events in the lines of the ``cudagraphs`` log. The stack of an operation is on the lines that follow it."""
    operation: LogLine | None = None
    reason, following = "", ""
    for line in (line for line in lines if line.log == "cudagraphs"):
        match = OPERATION.match(line.text)
        if operation is not None and (match or not line.text.startswith("      ")):
            yield CudaGraphEvent(Trouble.OUTSIDE, reason, operation.compile_id, parse_stack(following), operation.stack)
            operation = None
        if match:
            if match["reason"] != NO_CUDA_GRAPHS:
                operation, reason, following = line, match["reason"], ""
        elif line.text.startswith("      "):
            following += line.text + "\n"
        elif SKIP.match(line.text):
            yield skip_of(line.text, line.compile_id, line.stack)
        elif again := AGAIN.search(line.text):
            pointer = POINTER.search(line.text)
            yield CudaGraphEvent(
                Trouble.RECORDED_AGAIN,
                again["reason"].partition("\n")[0].rstrip("."),
                line.compile_id,
                stack=line.stack,
                number=pointer[1] if pointer else "",
            )
        elif sizes := SIZES.search(line.text):
            yield CudaGraphEvent(Trouble.SIZES, "", line.compile_id, stack=line.stack, number=sizes["number"])
    if operation is not None:
        yield CudaGraphEvent(Trouble.OUTSIDE, reason, operation.compile_id, parse_stack(following), operation.stack)
