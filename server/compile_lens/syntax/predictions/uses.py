"""What a compiled function does with its values: the facts that the rules match."""

from __future__ import annotations

from collections.abc import Mapping

import tree_sitter
from msgspec import Struct, field

from compile_lens.syntax.predictions.values import AbstractValue


class CallUse(Struct, frozen=True):
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


class Branch(Struct, frozen=True):
    """A value that decides which code runs: ``if``, ``while``, ``and``, ``or``, a conditional expression."""

    node: tree_sitter.Node
    value: AbstractValue


class Index(Struct, frozen=True):
    """``value[index]``, read, where ``index`` is no slice."""

    node: tree_sitter.Node
    value: AbstractValue
    index: AbstractValue


class Enter(Struct, frozen=True):
    """The expression of a ``with``: ``name`` is the full name of what it calls or names, or ''."""

    node: tree_sitter.Node
    name: str
    value: AbstractValue


class SetAttribute(Struct, frozen=True):
    """``receiver.attribute = …``; ``node`` is the left side."""

    node: tree_sitter.Node
    receiver: AbstractValue
    attribute: str


Use = CallUse | Branch | Index | Enter | SetAttribute
