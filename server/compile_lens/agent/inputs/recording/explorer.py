"""Runs a program ahead of itself: a forked copy goes on at the first call of a model, and tells which models it is about.

The process itself stops before the first call of the model that matters most. So that call is the first one of its process when it is
compiled, and finds no cache that an earlier one has filled.
"""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...runtime.foreign_code import attempted
from ...torch_internals.attributes import original_module
from ..calling.ahead import Fork, can_fork
from ..calling.call_modes import CallModes
from ..calling.parameter_count import parameter_count
from ..scripts.guard import BUSY, Enough
from ..synthesis.terms.arguments import NEEDS_GRADIENT, known_text
from .model_recorder import RecordedModel
from .module_changes import Change
from .surroundings import SurroundingNames

# more than the program's own limit, for one statement that takes long
PATIENCE_S = 10.0
# of the arguments of one model's calls, and of those of one call
MOST_BYTES = 32 << 20
MOST_OF_CALL = 4 << 20
# a model of more is not packed to find out how large it is
BYTES_OF_PARAMETER = 4


def longest_by_clock(seconds: float) -> float:
    """How long a program takes by the clock that has ``seconds`` of processor time, on a machine that others use, too."""
    return seconds * BUSY + PATIENCE_S


@dataclass(frozen=True)
class Told:
    """A model that the copy found: its number (``ModelRecorder.number_of``), and the calls that have a text: by position, and by name;
    ``counts`` tells which call of the model each is, from 1 on.

    ``passed`` are those without a text, as bytes: one object that several of them get stays one (``unpacked``).
    ``packed`` is the model itself, if the copy made it. ``module`` is that of its class, ``line`` the one that made it, and ``given`` the
    constructor's arguments that have a text.
    """

    number: int
    name: str
    calls: tuple[tuple[tuple[str, ...], dict[str, str]], ...]
    module: str
    line: int
    given: dict[str, str]
    passed: bytes = b""
    counts: tuple[int, ...] = ()
    changes: tuple[tuple[Change, ...], ...] = ()
    values: tuple[bytes, ...] = ()
    modes: tuple[str, ...] = ()
    call_modes: tuple[CallModes, ...] = ()
    around_later: SurroundingNames | None = None
    packed: bytes = b""


class Explorer:
    """One per program, whose copy has ``seconds`` by the clock. ``told`` are the models that it found, the most important first; empty
    without a copy."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._fork: Fork | None = None
        self._has_begun = False
        self._made = 0
        self._bytes_left = MOST_BYTES
        self.told: tuple[Told, ...] = ()

    @property
    def is_copy(self) -> bool:
        """Whether this process is the copy."""
        return self._fork is not None and self._fork.is_copy

    def before_first_call(self, number: int, model: RecordedModel, made: int) -> None:
        """``model`` is about to be called for the first time, when the program has made so many modules. Raises Enough where it is the one
        that matters most."""
        if not self._has_begun and can_fork():
            self._has_begun = True
            self._made = made
            self._fork = Fork()
            if not self._fork.is_copy:
                self.told = next(self._fork.received(self._end), ())
                self._fork.close()
        if self.is_copy:
            if number >= self._made:
                model.packed = self._packed_module(model.module)
            return
        if not self.told:
            return
        first = self.told[0]
        if first.number == number and first.name == _name(model):
            raise Enough

    def _packed_module(self, module: Any) -> bytes:
        """A model that only the copy has made: it may be put together of others, in a function that has ended, from what has no text."""
        is_large = parameter_count(module) * BYTES_OF_PARAMETER > self._bytes_left
        data = (attempted(lambda: _Packer.pack(module)) or b"") if not is_large else b""
        if len(data) > self._bytes_left:
            return b""
        self._bytes_left -= len(data)
        return data

    def finish(
        self,
        models: Callable[[], list[RecordedModel]],
        number_of: Callable[[Any], int],
        given_to: Callable[[Any], dict[str, str]],
    ) -> None:
        """The program has come to its end: the copy tells what it found, and ends."""
        if self._fork is None or not self._fork.is_copy:
            return
        try:
            told = [
                Told(
                    number_of(model.module),
                    _name(model),
                    tuple(filter(None, map(texts_of, model.calls))),
                    type(original_module(model.module)).__module__,
                    model.line,
                    given_to(model.module),
                    _packed(model),
                    tuple(call.number for call in model.calls if texts_of(call)),
                    tuple(call.changes for call in model.calls if texts_of(call)),
                    tuple(_values(call) for call in model.calls if texts_of(call)),
                    tuple(call.mode for call in model.calls if texts_of(call)),
                    tuple(call.modes for call in model.calls if texts_of(call)),
                    model.around_later,
                    model.packed,
                )
                for model in models()
            ]
            self._fork.send(tuple(told))
        finally:
            self._fork.end()


def _name(model: RecordedModel) -> str:
    return type(original_module(model.module)).__qualname__


def _packed(model: RecordedModel) -> bytes:
    """The calls of a model none of which has a text; nothing where they are large, or cannot leave this process."""
    whole = [(call.positional, call.named) for call in model.calls if call.is_complete]
    if not whole or any(map(texts_of, model.calls)):
        return b""
    data = attempted(lambda: _Packer.pack(whole)) or b""
    return data if len(data) <= MOST_BYTES else b""


def _values(call: Any) -> bytes:
    """The arguments of a call; nothing where they are large, or cannot leave this process."""
    data = attempted(lambda: _Packer.pack([(call.positional, call.named)])) or b""
    return data if len(data) <= MOST_OF_CALL else b""


class _Packer(pickle.Pickler):
    """Packs a named tuple by its items, whatever its class makes of being unpacked."""

    @classmethod
    def pack(cls, value: object) -> bytes:
        """``value`` as bytes. Raises what objects of the program's raise."""
        buffer = io.BytesIO()
        cls(buffer).dump(value)
        return buffer.getvalue()

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, tuple) and hasattr(type(value), "_fields"):
            return tuple.__new__, (type(value), list(tuple.__iter__(value))), getattr(value, "__dict__", None) or None
        return NotImplemented


def unpacked_module(told: Told) -> Any:
    """The model that ``told.packed`` holds; None where it cannot be made again here."""
    return attempted(lambda: pickle.loads(told.packed)) if told.packed else None


def unpacked(passed: bytes) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """What ``passed``, or one of ``values``, of a Told holds; nothing where it cannot be made again here."""
    return (attempted(lambda: pickle.loads(passed)) if passed else None) or []


def texts_of(call: Any) -> tuple[tuple[str, ...], dict[str, str]] | None:
    """The arguments of a call as expressions; None where one has no text."""
    positional = [_text(value) for value in call.positional]
    named = {name: _text(value) for name, value in call.named.items()}
    if not call.is_complete or None in positional or None in named.values():
        return None
    return tuple(map(str, positional)), {name: str(text) for name, text in named.items()}


def _text(value: Any) -> str | None:
    """The expression for an argument, which needs a gradient where the argument does: torch compiles each setting separately."""
    text = known_text(value)
    return f"{text}{NEEDS_GRADIENT}" if text is not None and getattr(value, "requires_grad", False) else text
