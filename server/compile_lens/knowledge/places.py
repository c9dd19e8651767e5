"""Parses places in the tables: ``torch/_inductor/ir.py:123``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compile_lens.knowledge.entry import TorchPlace


def read_place(label: str, text: str) -> TorchPlace:
    """``path:line`` as a place."""
    path, _, line = text.rpartition(":")
    return TorchPlace(label, path, int(line))


def place(row: Mapping[str, Any], label: str) -> tuple[TorchPlace, ...]:
    """The place of a row, as a tuple of none or one."""
    return (read_place(label, row["at"]),) if "at" in row else ()


def places(label: str, texts: Iterable[str]) -> tuple[TorchPlace, ...]:
    """Places of one label."""
    return tuple(read_place(label, text) for text in texts)


def placed(label: str, uses: Iterable[Sequence[str]]) -> tuple[TorchPlace, ...]:
    """Places of named uses, ``[function, place]``."""
    return tuple(read_place(f"{label} in {function}", text) for function, text in uses)
