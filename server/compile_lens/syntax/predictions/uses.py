"""What a compiled function does with its values: the facts that the rules look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import tree_sitter

from compile_lens.syntax.predictions.values import Value


@dataclass(frozen=True, slots=True)
class Call:
    """A call. ``name`` is the full name of what is called (``torch.nonzero``, ``builtins.print``), or ''.

    ``method`` and ``receiver`` are set for ``receiver.method(…)``. ``is_disabled``: the function that is called is marked with
    ``torch.compiler.disable`` in this file.
    """

    node: tree_sitter.Node
    name: str
    method: str
    receiver: Value | None
    positional: tuple[Value, ...]
    named: Mapping[str, Value] = field(default_factory=dict)
    is_disabled: bool = False

    @property
    def values(self) -> tuple[Value, ...]:
        return (*self.positional, *self.named.values())


class How(Enum):
    """Where Python needs to know whether a value is true."""

    BRANCH = "branch"
    # an assertion whose message Dynamo keeps (a plain string or none), and one whose message it cannot
    ASSERT = "assert"
    ASSERT_WITH_MADE_MESSAGE = "assert with a made message"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class Test:
    node: tree_sitter.Node
    value: Value
    how: How


@dataclass(frozen=True, slots=True)
class Index:
    """``value[index]``, read. ``is_slice``: ``index`` is a bound of a slice."""

    node: tree_sitter.Node
    value: Value
    index: Value
    is_slice: bool = False


@dataclass(frozen=True, slots=True)
class Enter:
    """The expression of a ``with``: ``name`` is the full name of what is called or named there, or ''."""

    node: tree_sitter.Node
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class SetAttribute:
    """``receiver.attribute = …``; ``node`` is the left side."""

    node: tree_sitter.Node
    receiver: Value
    attribute: str


@dataclass(frozen=True, slots=True)
class Text:
    """A value in a ``%`` or a string made of it; ``node`` is the whole expression."""

    node: tree_sitter.Node
    value: Value


Use = Call | Test | Index | Enter | SetAttribute | Text
