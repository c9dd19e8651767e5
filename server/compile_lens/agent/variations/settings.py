"""Calls of an object that is made with another setting: it is compiled anew, so nothing is compared with how it was made before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from .call_snapshot import CallSnapshot, take_snapshot
from .input_variations import MODE, modes

SETTING, AGAIN, IN_MODE = "setting", "setting-again", "setting-mode"


@dataclass(frozen=True, slots=True)
class ConfiguredCall:
    """A call of ``fn``, which ``compiled`` wraps."""

    compiled: Callable[..., Any]
    fn: Callable[..., Any]
    positional: tuple[Any, ...]
    named: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    """``phrase`` completes "with …"; ``make`` makes the object and its inputs, and raises what the program raises."""

    phrase: str
    make: Callable[[], ConfiguredCall]


@dataclass(frozen=True, slots=True)
class SettingStep:
    """One call of the object: ``phrase`` names it, ``kind`` says what is new about it."""

    kind: str
    phrase: str
    snapshot: CallSnapshot


Settings = Callable[[], Iterable[ChangedSetting]]


def steps_of(
    setting: ChangedSetting,
    call: ConfiguredCall,
    like: CallSnapshot,
    modules_of: Callable[[Any, CallSnapshot], list[Any]],
) -> Iterator[SettingStep]:
    """The calls of an object with another setting: a plain one, in the grad mode of ``like``, the same again, and in the other mode."""
    plain = replace(take_snapshot(call.positional, call.named), mode=like.mode, autocast=like.autocast)
    words = f"`{setting.phrase}`"
    yield SettingStep(SETTING, words, plain)
    yield SettingStep(AGAIN, f"{words} and the same inputs again", plain)
    for variation in modes(plain, modules_of(call.fn, plain)):
        if variation.kind == MODE:
            yield SettingStep(IN_MODE, f"{words} and {variation.phrase}", variation.calls[0])
