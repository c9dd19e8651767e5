"""What the regions of a run computed, as the agent notes it (agent/compare/region_results.py)."""

from __future__ import annotations

import base64
import binascii
from array import array
from typing import Any

from msgspec import Struct


class ResultValue(Struct, frozen=True):
    """One value. ``kind`` is ``tensor``, ``ndarray`` or the name of a Python type; ``text`` is what a plain value reads as.

    ``numbers`` are some of a tensor's as fp64, all of them if ``is_whole``, None where the run gave too many; ``digest`` is of all.
    """

    kind: str
    text: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    requires_grad: bool = False
    digest: str = ""
    numbers: tuple[float, ...] | None = None
    is_whole: bool = False


class RegionResult(Struct, frozen=True):
    """One outermost call of the region ``name``: what it returned, and the tensors of its arguments that it changed.

    At the end of the program, ``name`` is '': ``values`` are parameters, buffers and their gradients, ``changed`` gradients of inputs.
    ``is_backward``: ``values`` are the gradients that a backward has left, in no order; their numbers are a norm and projections.
    """

    name: str
    values: tuple[ResultValue, ...]
    changed: tuple[ResultValue, ...]
    is_backward: bool = False


def read_result(note: dict[str, Any]) -> RegionResult:
    """The result that a note tells. Raises KeyError, TypeError or ValueError for another note."""
    values, changed = tuple(map(_value, note["values"])), tuple(map(_value, note["changed"]))
    return RegionResult(str(note["call"]), values, changed, bool(note.get("backward")))


def _value(said: dict[str, Any]) -> ResultValue:
    numbers = None
    if "numbers" in said:
        try:
            numbers = array("d", base64.b64decode(said["numbers"], validate=True))
        except binascii.Error as error:
            raise ValueError(str(error)) from error
    return ResultValue(
        kind=str(said["kind"]),
        text=str(said.get("text", "")),
        dtype=str(said.get("dtype", "")),
        shape=tuple(said.get("shape", ())),
        requires_grad=bool(said.get("grad")),
        digest=str(said.get("digest", "")),
        numbers=tuple(numbers) if numbers is not None else None,
        is_whole=bool(said.get("all")),
    )
