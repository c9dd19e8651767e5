"""Collects the sizes and numbers that torch made dynamic (torch/fx/experimental/symbolic_shapes.py, torch 2.13)."""

from __future__ import annotations

from collections.abc import Callable

from compile_lens.trace.records import Record
from compile_lens.trace.report import Symbol


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
        symbols[record.fields["symbol"]] = record.fields["source"]
        self._found[compile_id] = (record.attempt, symbols)
