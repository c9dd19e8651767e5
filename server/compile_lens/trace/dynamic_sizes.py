"""Reads what torch records of dynamic sizes and numbers: their symbols, and those that became constants.

The symbols are made in torch/fx/experimental/symbolic_shapes.py (torch 2.6 to 2.15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compile_lens.trace.records import Record
from compile_lens.trace.report import Specialization, StackFrame, Symbol

# functions of torch that compare a size with that of a parameter: ``expect_true`` is behind each ``torch._check``; the others check
# in C++ (torch 2.6 to 2.15)
CHECKS = frozenset({"expect_true", "batch_norm", "group_norm", "instance_norm", "multi_head_attention_forward"})
# modules of torch that do it in Python, or hand their parameter to an operator without a Python frame
CHECKING_MODULES = ("torch/nn/modules/instancenorm.py", "torch/nn/modules/activation.py")


class Specializations:
    """Collects dynamic sizes that became constants: the value, and whether another one is an error.

    ``read_frame`` reads an entry of a stack.
    """

    def __init__(self, read_frame: Callable[[dict[str, Any]], StackFrame]) -> None:
        self._read_frame = read_frame
        self._found: list[Specialization] = []
        self.readers: dict[str, Callable[[Record], None]] = {"symbolic_shape_specialization": self._on_specialization}

    def _on_specialization(self, record: Record) -> None:
        fields = record.fields
        stack = tuple(self._read_frame(entry) for entry in fields.get("user_stack") or ())
        inside = {str(entry.get("name")) for entry in fields.get("stack") or ()}
        by_module = bool(stack) and stack[-1].file.replace("\\", "/").endswith(CHECKING_MODULES)
        self._found.append(
            Specialization(
                record.compile_id or "-",
                tuple(map(str, fields["sources"])),
                str(fields["value"]),
                stack,
                is_checked=by_module or not CHECKS.isdisjoint(inside),
            )
        )

    def found(self) -> tuple[Specialization, ...]:
        """What was read so far."""
        return tuple(self._found)


class Symbols:
    """Collects the symbols of each compilation's last attempt."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, dict[str, str]]] = {}
        self.readers: dict[str, Callable[[Record], None]] = {"create_symbol": self._on_symbol}

    def found(self) -> tuple[Symbol, ...]:
        """The symbols so far, in the order in which they were made."""
        return tuple(
            Symbol(compile_id, source)
            for compile_id, (_, symbols) in self._found.items()
            for source in symbols.values()
        )

    def _on_symbol(self, record: Record) -> None:
        compile_id = record.compile_id or "-"
        attempt, symbols = self._found.get(compile_id, (record.attempt, {}))
        if attempt != record.attempt:
            symbols = {}
        symbols[str(record.fields["symbol"])] = str(record.fields["source"])
        self._found[compile_id] = (record.attempt, symbols)
