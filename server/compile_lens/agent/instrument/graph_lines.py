"""Finds the user's lines of an operation that failed while a graph of Dynamo's ran: a traceback ends in code that torch generated."""

from __future__ import annotations

import re
from types import FrameType, TracebackType
from typing import Any

# the file of a graph's code (torch/fx/graph_module.py)
GENERATED = "<eval_with_key>"
RECORDED = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>\d+), in (?P<name>.+)\n *(?P<text>.*)$', re.MULTILINE)
Line = tuple[str, int, str, str]


def lines_of_graph(traceback: TracebackType | None) -> list[Line]:
    """File, line, function and text of each level of the user's stack at the operation, outermost first; empty where none failed."""
    found: list[Line] = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.startswith(GENERATED):
            found = _recorded(traceback.tb_frame, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _recorded(frame: FrameType, line: int) -> list[Line]:
    module = frame.f_locals.get("self")
    # which line of the code is which node: torch 2.11 knows it, 2.8 does not
    numbers: dict[int, Any] = getattr(module, "_lineno_map", None) or {}
    number = numbers.get(line - int(getattr(module, "_prologue_start", 0) or 0))
    nodes = list(module.graph.nodes) if module is not None and number is not None else []
    if not nodes or number is None or number >= len(nodes):
        return []
    text = str(nodes[number].meta.get("stack_trace") or "")
    return [
        (match["file"], int(match["line"]), match["name"], match["text"].strip()) for match in RECORDED.finditer(text)
    ]
