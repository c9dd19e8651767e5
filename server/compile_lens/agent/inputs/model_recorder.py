"""Notes which models a program makes, and how it calls them."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .absent import NeedsAbsent, cause_of
from .guard import Enough

# after so many calls of one model, or of all, it is known how the program calls them
CALLS_OF_ONE = 4
CALLS_OF_ALL = 12
KEPT_CALLS = 2
WRAPPERS = frozenset({"DistributedDataParallel", "DataParallel", "FullyShardedDataParallel"})


@dataclass(frozen=True)
class RecordedModelCall:
    """A call from outside of all modules. ``is_complete``: nothing that it passes is absent."""

    positional: tuple[Any, ...]
    named: dict[str, Any]
    is_complete: bool
    grad: bool


@dataclass
class RecordedModel:
    """A module, the line of the analyzed file from which it was made, and its calls."""

    module: Any
    line: int
    calls: list[RecordedModelCall] = field(default_factory=list)
    count: int = 0

    @property
    def size(self) -> int:
        """The number of its parameters and, among modules without any, of its submodules."""
        parameters: int = sum(p.numel() for p in self.module.parameters())
        return parameters + len(list(self.module.modules()))

    @property
    def complete(self) -> RecordedModelCall | None:
        """The last call that can be repeated."""
        return next((call for call in reversed(self.calls) if call.is_complete), None)


class ModelRecorder:
    """``check_time`` raises Enough when the program has run for long enough."""

    def __init__(self, file: str, check_time: Callable[[], None]) -> None:
        self._file = file
        self._check_time = check_time
        self._made: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._kept: list[Any] = []
        self._called: dict[int, RecordedModel] = {}
        self._depth = 0

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record while the body runs."""
        import torch

        module: Any = torch.nn.Module
        original_init, original_call = module.__init__, module.__call__
        recorder = self

        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original_init(self, *args, **kwargs)
            recorder._add(self)

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if recorder._depth == 0:
                recorder._note(self, args, kwargs)
            recorder._depth += 1
            try:
                return original_call(self, *args, **kwargs)
            finally:
                recorder._depth -= 1

        module.__init__, module.__call__ = init, call
        try:
            yield
        finally:
            module.__init__, module.__call__ = original_init, original_call

    def _add(self, module: Any) -> None:
        known = self._made.get(id(module))
        if known is None or known[0]() is not module:
            self._made[id(module)] = (weakref.ref(module), self._line())
            self._kept.append(module)

    def _line(self) -> int:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self._file:
                return frame.f_lineno or 1
            if frame.f_back is None:
                break
            frame = frame.f_back
        return 0

    def _note(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note a call. Raises NeedsAbsent for one with something absent, and Enough when the models are known."""
        self._check_time()
        while type(module).__name__ in WRAPPERS and hasattr(module, "module"):
            module = module.module
        known = self._made.get(id(module))
        line = known[1] if known is not None else 0
        model = self._called.setdefault(id(module), RecordedModel(module, line or self._line()))
        if model.count >= CALLS_OF_ONE or sum(each.count for each in self._called.values()) >= CALLS_OF_ALL:
            raise Enough
        import torch

        causes = [c for c in map(cause_of, _leaves((args, kwargs))) if c is not None]
        model.count += 1
        args, kwargs = _copied((args, kwargs)) if not causes else (args, kwargs)
        model.calls.append(RecordedModelCall(args, kwargs, not causes, torch.is_grad_enabled()))
        del model.calls[:-KEPT_CALLS]
        if causes:
            raise NeedsAbsent(causes[0])

    def models(self) -> list[RecordedModel]:
        """Those that the program calls; otherwise those that it makes. The largest first; none that is a part of another."""
        called = [model for model in self._called.values() if _is_model(model.module)]
        made = [
            RecordedModel(module, self._made[id(module)][1])
            for module in self._kept
            if _is_model(module) and id(module) not in self._called
        ]
        # a call with all that it needs is the best that there can be
        for found in ([m for m in called if m.complete is not None], called, made):
            if found:
                return _roots(found)
        return []


def _roots(models: list[RecordedModel]) -> list[RecordedModel]:
    inside = {id(part) for model in models for part in model.module.modules() if part is not model.module}
    roots = [model for model in models if id(model.module) not in inside] or models
    return sorted(roots, key=lambda model: -model.size)


def _is_model(module: Any) -> bool:
    """Whether it is more than a loss of torch's, and is whole: its constructor may have raised."""
    is_of_torch = type(module).__module__.startswith("torch.nn")
    try:
        return not is_of_torch or next(module.parameters(), None) is not None
    except AttributeError:
        return False


def _leaves(value: Any, depth: int = 0) -> Iterator[Any]:
    if depth < 4 and type(value) in (list, tuple):
        for each in value:
            yield from _leaves(each, depth + 1)
    elif depth < 4 and type(value) is dict:
        for each in value.values():
            yield from _leaves(each, depth + 1)
    else:
        yield value


def _copied(value: Any) -> Any:
    """``value`` with copies of its tensors, without their history."""
    import torch
    from torch.utils._pytree import tree_map

    def copied(each: Any) -> Any:
        if not isinstance(each, torch.Tensor):
            return each
        return each.detach().clone().requires_grad_(each.requires_grad)

    return tree_map(copied, value)
