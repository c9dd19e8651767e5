"""Saved weights that are not there: modules that were to get them keep those that they were made with.

A loader of a file returns whatever was saved. So nothing stands in but where the source shows that ``load_state_dict`` gets it, whole or
a part of it. Whatever else the program does with it raises what the loader raised.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType, ModuleType
from typing import Any

import torch

from ...runtime.missing_requirement import is_lack
from .lookups import Calls, reason
from .state_dict_uses import is_loaded

CHECKPOINT = "checkpoint"
OF_A_HUB = "load_state_dict_from_url"
# renamed by programs that take "module." away; no name of a parameter
ANY_NAME = "module.compile_lens_absent"
# what a dictionary or a tensor is asked for that cannot be known
RAISING = (
    "__iter__ __len__ __reversed__ __reduce_ex__ __call__ __enter__ __int__ __index__ __float__ __str__ __repr__ __format__"
    " __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __neg__ __add__ __radd__ __sub__ __mul__ __rmul__ __or__ __ror__ __ior__"
    " keys values copy update setdefault popitem"
)


class AbsentCheckpoint(dict):  # type: ignore[type-arg]
    """Stands for a dictionary whose items are not known. Whatever needs to know them raises ``error``."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.absent_error = error

    def __getitem__(self, key: Any) -> AbsentCheckpoint:
        if not isinstance(key, str):
            raise self.absent_error
        return AbsentCheckpoint(self.absent_error)

    def get(self, key: Any, default: Any = None) -> AbsentCheckpoint:
        """A part of it, whatever the ``default`` is."""
        return self[key]

    def pop(self, key: Any, *default: Any) -> AbsentCheckpoint:
        """A part of it."""
        return self[key]

    def __contains__(self, key: Any) -> bool:
        return True

    def __bool__(self) -> bool:
        return True

    def items(self) -> Any:
        """One pair for all of them, so that a dictionary that a program makes of them is known again."""
        return [(ANY_NAME, AbsentCheckpoint(self.absent_error))]

    def __getattr__(self, name: str) -> Any:
        raise self.absent_error


def _raise(self: AbsentCheckpoint, *_: Any, **__: Any) -> Any:
    raise self.absent_error


for _name in RAISING.split():
    setattr(AbsentCheckpoint, _name, _raise)


class Checkpoints:
    """The changes, each for the module that it is called with."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """By the name of the module."""
        return {
            "torch": self._change_torch,
            "torch.serialization": lambda module: self._change(module, "load", "f"),
            "torch.hub": lambda hub: self._change(hub, OF_A_HUB, "url"),
            "safetensors.torch": lambda module: self._change(module, "load_file", "filename"),
        }

    def _change(self, module: Any, name: str, what: str) -> None:
        original = getattr(module, name)
        may_stand_in = torch._dynamo.disable(self._may_stand_in)
        absent = torch._dynamo.disable(self._absent)

        def load(*args: Any, **named: Any) -> Any:
            try:
                return original(*args, **named)
            except Exception as error:
                wanted = args[0] if args else named.get(what)
                caller = sys._getframe(1)
                if not isinstance(wanted, (str, os.PathLike)) or not may_stand_in(error, caller, name):
                    raise
                return absent(error, os.fspath(wanted), caller)

        # for Dynamo it is the library's own: of a file that it leaves to Python, and named in its words
        setattr(module, name, functools.wraps(original)(_as_of(load, original)))

    def _may_stand_in(self, error: Exception, caller: FrameType, loader: str) -> bool:
        # a library that loads weights for a model is followed where it is called
        if not is_lack(error) or self._calls.depth > 0:
            return False
        is_weights = loader == OF_A_HUB or is_loaded(caller.f_code.co_filename, caller.f_lineno)
        return is_weights and self._calls.may_stand_in(error)

    def _absent(self, error: Exception, name: str, caller: FrameType) -> AbsentCheckpoint:
        if error.__traceback__ is not None:
            error = error.with_traceback(error.__traceback__.tb_next)  # without the frame of `load` above
        note = {"what": CHECKPOINT, "name": name, "made": "", "why": reason(error), "stack": self._calls.stack(caller)}
        self._calls.tell(note)
        return AbsentCheckpoint(error)

    def _change_torch(self, module: Any) -> None:
        """Besides ``torch.load``, let modules, optimizers and schedulers take what it gives."""
        self._change(module, "load", "f")
        result = torch.nn.modules.module._IncompatibleKeys([], [])
        self._take(torch.nn.Module, result)
        self._take(torch.optim.Optimizer, None)
        self._take(torch.amp.GradScaler, None)
        for scheduler in _all_of(torch.optim.lr_scheduler.LRScheduler):
            self._take(scheduler, None)

    def _take(self, owner: Any, result: Any) -> None:
        original = vars(owner).get("load_state_dict")
        if original is None:
            return

        @functools.wraps(original)
        def load_state_dict(target: Any, state_dict: Any, *args: Any, **named: Any) -> Any:
            return result if _is_absent(state_dict) else original(target, state_dict, *args, **named)

        owner.load_state_dict = load_state_dict


def _is_absent(state_dict: Any) -> bool:
    """Whether it is an absent checkpoint, or a dictionary that was made of one."""
    if isinstance(state_dict, AbsentCheckpoint):
        return True
    return isinstance(state_dict, dict) and any(isinstance(value, AbsentCheckpoint) for value in state_dict.values())


def _all_of(base: type[Any]) -> Iterator[type[Any]]:
    yield base
    for cls in base.__subclasses__():
        yield from _all_of(cls)


def _as_of(function: Any, original: Any) -> Any:
    """``function``, which says to be of the file that ``original`` is of; its third line, which calls that one, to be its first."""
    code: CodeType = function.__code__
    place = original.__code__
    function.__code__ = code.replace(co_filename=place.co_filename, co_firstlineno=max(place.co_firstlineno - 2, 1))
    return function
