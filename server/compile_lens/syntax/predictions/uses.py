"""What a compiled function does with its values: the facts that the rules match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import tree_sitter

from compile_lens.syntax.predictions.values import AbstractValue


@dataclass(frozen=True, slots=True)
class CallUse:
    """A call. ``name`` is the full name of what is called (``torch.nonzero``, ``builtins.print``), or ''.

    ``method`` and ``receiver`` are set for ``receiver.method(…)``. ``is_disabled``: the called function is marked with
    ``torch.compiler.disable`` in this file.
    """

    node: tree_sitter.Node
    name: str
    method: str
    receiver: AbstractValue | None
    positional: tuple[AbstractValue, ...]
    named: Mapping[str, AbstractValue] = field(default_factory=dict)
    is_disabled: bool = False

    @property
    def values(self) -> tuple[AbstractValue, ...]:
        return (*self.positional, *self.named.values())


@dataclass(frozen=True, slots=True)
class Branch:
    """A value that decides which code runs: ``if``, ``while``, ``and``, ``or``, a conditional expression."""

    node: tree_sitter.Node
    value: AbstractValue


@dataclass(frozen=True, slots=True)
class Index:
    """``value[index]``, read, where ``index`` is no slice."""

    node: tree_sitter.Node
    value: AbstractValue
    index: AbstractValue


@dataclass(frozen=True, slots=True)
class Enter:
    """The expression of a ``with``: ``name`` is the full name of what it calls or names, or ''."""

    node: tree_sitter.Node
    name: str
    value: AbstractValue


@dataclass(frozen=True, slots=True)
class SetAttribute:
    """``receiver.attribute = …``; ``node`` is the left side."""

    node: tree_sitter.Node
    receiver: AbstractValue
    attribute: str


Use = CallUse | Branch | Index | Enter | SetAttribute
