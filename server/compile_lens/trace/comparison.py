"""How what a compiled graph computed compares with eager, in a run that compares."""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct

from compile_lens.trace.stack_frame import StackFrame


class Agreement(str, Enum):
    """How what a graph computed compares with eager: ``rounding`` is within torch's own tolerance, ``wrong`` is not."""

    BITWISE = "bitwise"
    ROUNDING = "rounding"
    WRONG = "wrong"
    NOT_COMPARED = "not-compared"


class ComparedValue(Struct, frozen=True):
    """One value of a graph that is not to the bit what eager gives.

    ``what`` is ``output``, ``input`` (as the call left it) or ``gradient`` (of an input), ``index`` its number, ``name`` its node's;
    ``source`` is where an input comes from (``L['x']``), ``stack`` leads to the line that computes it. ``facts`` are figures by name:
    see agent/compare/numbers.py, ``difference``.
    """

    what: str
    index: int
    name: str
    source: str
    stack: tuple[StackFrame, ...]
    facts: dict[str, Any]


class Comparison(Struct, frozen=True):
    """One call of a compiled graph beside eager. ``direction`` is ``forward`` or ``backward``; ``reason`` is why it was not compared.

    ``call`` counts the graph's calls from 1. ``has_reference``: there was an fp64 reference. ``worse`` counts the values that are as bad
    as ``agreement`` says; ``values`` are the first of them.
    """

    compile_id: str
    agreement: Agreement
    direction: str = "forward"
    call: int = 0
    has_reference: bool = False
    values: tuple[ComparedValue, ...] = ()
    worse: int = 0
    reason: str = ""
