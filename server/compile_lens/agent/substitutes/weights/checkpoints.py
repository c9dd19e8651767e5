"""Substitutes missing checkpoints: modules keep the weights that they were initialized with.

A file may hold anything. So a checkpoint is substituted only where the source shows that ``load_state_dict`` takes it or a part of it.
Any other use of the substitute raises what the loader raised.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType, ModuleType
from typing import Any

import torch

from ...instrument.in_place import call_after_failure, call_first
from ...runtime.missing_requirement import is_not_found
from ...torch_internals.core import INCOMPATIBLE_KEYS
from .downloads import Downloads
from .lookups import Lookups, reason
from .state_dict_uses import is_loaded

CHECKPOINT = "checkpoint"
URL_LOADER = "load_state_dict_from_url"
# programs strip "module." from names; no parameter has this one
PLACEHOLDER_NAME = "module.compile_lens_absent"
# operations of dictionaries and tensors that need the real content
RAISING = (
    "__iter__ __len__ __reversed__ __reduce_ex__ __call__ __enter__ __int__ __index__ __float__ __str__ __repr__ __format__"
    " __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __neg__ __add__ __radd__ __sub__ __mul__ __rmul__ __or__ __ror__ __ior__"
    " keys values copy update setdefault popitem"
)


class MissingCheckpoint(dict):  # type: ignore[type-arg]
    """Replaces a dictionary whose items are unknown. Operations that need them raise ``error``."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.loading_error = error

    def __getitem__(self, key: Any) -> MissingCheckpoint:
        if not isinstance(key, str):
            raise self.loading_error
        return MissingCheckpoint(self.loading_error)

    def get(self, key: Any, default: Any = None) -> MissingCheckpoint:
        """A part of the checkpoint, whatever the ``default``."""
        return self[key]

    def pop(self, key: Any, *default: Any) -> MissingCheckpoint:
        """A part of the checkpoint."""
        return self[key]

    def __contains__(self, key: Any) -> bool:
        return True

    def __bool__(self) -> bool:
        return True

    def items(self) -> Any:
        """A single placeholder pair, so that a dictionary built from the items is recognized."""
        return [(PLACEHOLDER_NAME, MissingCheckpoint(self.loading_error))]

    def __getattr__(self, name: str) -> Any:
        raise self.loading_error


def _raise(self: MissingCheckpoint, *_: Any, **__: Any) -> Any:
    raise self.loading_error


for _name in RAISING.split():
    setattr(MissingCheckpoint, _name, _raise)


class Checkpoints:
    """Changes to modules, applied when they are imported."""

    def __init__(self, lookups: Lookups, downloads: Downloads) -> None:
        self._lookups = lookups
        self._downloads = downloads
        self._are_accepted = False

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        return {
            "torch.serialization": lambda module: self._change(module, "load"),
            "torch.hub": lambda hub: self._change(hub, URL_LOADER),
            "safetensors.torch": lambda module: self._change(module, "load_file"),
            "torch.jit._serialization": lambda module: call_after_failure(module.load, self._is_told),
        }

    def _is_told(self, error: Exception, file: Any, /, *_: Any, **__: Any) -> None:
        """Raise the error of the download where a file holds nothing for that reason."""
        absent = self._downloads.absent(file)
        if absent is not None:
            # the frames of the loader say what was looked for
            raise absent[1].with_traceback(error.__traceback__) from None

    def _change(self, module: Any, name: str) -> None:
        """Substitute what ``name`` of ``module`` does not find; the function itself stays the library's own."""

        def failed(error: Exception, wanted: Any, /, *_: Any, **__: Any) -> tuple[MissingCheckpoint] | None:
            caller = sys._getframe(1).f_back  # of the frame around the function, that of the user's call
            if caller is None or not isinstance(wanted, (str, os.PathLike)):
                return None
            absent_name, absent_error = self._downloads.absent(wanted) or (os.fspath(wanted), error)
            if not self._may_substitute(absent_error, caller, name):
                self._is_told(error, wanted)
                return None
            return (self._substitute(absent_error, absent_name, caller),)

        call_after_failure(getattr(module, name), failed)

    def _may_substitute(self, error: Exception, caller: FrameType, loader: str) -> bool:
        # weights that a library loads for a model are handled at the call of the library
        if not is_not_found(error) or self._lookups.depth > 0:
            return False
        is_weights = loader == URL_LOADER or is_loaded(caller.f_code.co_filename, caller.f_lineno)
        return is_weights and self._lookups.may_substitute(error)

    def _substitute(self, error: Exception, name: str, caller: FrameType) -> MissingCheckpoint:
        if error.__traceback__ is not None:
            error = error.with_traceback(error.__traceback__.tb_next)  # without the frame around the function
        note = {
            "what": CHECKPOINT,
            "name": name,
            "made": "",
            "why": reason(error),
            "stack": self._lookups.stack(caller),
        }
        self._lookups.write(note)
        self._accept_substitutes()
        return MissingCheckpoint(error)

    def _accept_substitutes(self) -> None:
        """Let modules, optimizers and schedulers accept a substitute, from the first one on."""
        if self._are_accepted:
            return
        self._are_accepted = True
        _accept_in(torch.nn.Module, INCOMPATIBLE_KEYS.need()([], []))
        for owner in (
            torch.optim.Optimizer,
            torch.amp.GradScaler,
            *_with_subclasses(torch.optim.lr_scheduler.LRScheduler),
        ):
            _accept_in(owner, None)


def _accept_in(owner: Any, result: Any) -> None:
    original = vars(owner).get("load_state_dict")
    if original is not None:
        call_first(original, lambda target, state_dict, /, *_, **__: (result,) if _is_substitute(state_dict) else None)


def _is_substitute(state_dict: Any) -> bool:
    """Whether it is a substitute, or a dictionary built from one."""
    if isinstance(state_dict, MissingCheckpoint):
        return True
    return isinstance(state_dict, dict) and any(isinstance(value, MissingCheckpoint) for value in state_dict.values())


def _with_subclasses(base: type[Any]) -> Iterator[type[Any]]:
    yield base
    for cls in base.__subclasses__():
        yield from _with_subclasses(cls)
