"""Reads the arguments of compiled functions: tensors as described when they become fake, and numbers from guards.

Of a tensor its sizes, strides and dtype are known, and no values (torch/_subclasses/meta_utils.py and torch/_dynamo/guards.py, torch 2.6
to 2.13).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from msgspec import Struct

from compile_lens.late_pattern import pattern
from compile_lens.trace.records import Payload, Record

ARGUMENT = pattern(r"^L\['(\w+)'\]$")
GUARD = pattern(r"L\['(\w+)'\] (?:==|is) ([^#\n]+?)\s*(?:#|$)", re.MULTILINE)


class TensorInput(Struct, frozen=True):
    """A tensor argument of a compilation. ``dtype`` is torch's name of it, as in ``float32``."""

    dtype: str
    size: tuple[int, ...]
    stride: tuple[int, ...]
    requires_grad: bool = False


class CallInputs(Struct, frozen=True):
    """The arguments of one compilation, those that it used: tensors by name, and the guards that hold the others fast."""

    compile_id: str
    tensors: tuple[tuple[str, TensorInput], ...]
    guards: Payload | None

    @property
    def values(self) -> tuple[tuple[str, str], ...]:
        """Numbers, flags, texts and None, by name, as Python writes them."""
        text = (self.guards.text() if self.guards else None) or ""
        return tuple((name, value) for name, value in GUARD.findall(text) if _is_plain(value))


class RecordedInputs:
    """Collects the arguments of each frame's first compilation."""

    def __init__(self) -> None:
        self._tensors: dict[tuple[str, int, int], TensorInput] = {}
        self._named: dict[str, dict[str, TensorInput]] = {}
        self._guards: dict[str, Payload] = {}
        self.readers: dict[str, Callable[[Record], None]] = {
            "describe_tensor": self._on_tensor,
            "describe_source": self._on_source,
        }

    def found(self) -> tuple[CallInputs, ...]:
        """What is known so far."""
        return tuple(
            CallInputs(compile_id, tuple(self._named.get(compile_id, {}).items()), self._guards.get(compile_id))
            for compile_id in dict.fromkeys([*self._named, *self._guards])
        )

    def _on_tensor(self, record: Record) -> None:
        fields = record.fields
        size, stride = tuple(fields["size"]), tuple(fields.get("stride", ()))
        dtype = str(fields["dtype"]).removeprefix("torch.")
        # it becomes part of an expression: a trace must not say more than a name there
        is_name = dtype.isidentifier() and dtype.isascii() and not dtype.startswith("_")
        is_shape = all(type(number) is int for number in (*size, *stride)) and len(stride) in (0, len(size))
        if not _is_first(record) or not is_name or not is_shape:
            return
        self._tensors[record.compile_id or "-", fields["describer_id"], fields["id"]] = TensorInput(
            dtype,
            size,
            stride,
            bool(fields.get("requires_grad")),
        )

    def _on_source(self, record: Record) -> None:
        fields = record.fields
        name = ARGUMENT.match(str(fields["source"]))
        compile_id = record.compile_id or "-"
        tensor = self._tensors.get((compile_id, fields["describer_id"], fields["id"]))
        if name is not None and tensor is not None:
            self._named.setdefault(compile_id, {})[name[1]] = tensor

    def on_guards(self, record: Record) -> None:
        """Take the guards of a version, which the builder reads, too."""
        if _is_first(record) and record.payload is not None:
            self._guards[record.compile_id or "-"] = record.payload


def _is_plain(text: str) -> bool:
    try:
        return isinstance(ast.literal_eval(text), (bool, int, float, str, type(None)))
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the latter two for operators without end
        return False


def _is_first(record: Record) -> bool:
    return (record.compile_id or "").endswith("/0")
