"""Records how modules were constructed: the arguments of their constructors when ``nn.Module.__init__`` is called."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from dataclasses import dataclass
from types import FrameType
from typing import Any

SIMPLE = (bool, int, float, str, type(None))
MAX_ATTRIBUTES = 200


@dataclass
class Construction:
    """The arguments of one constructor. ``within_parent``: another module's constructor made the module."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    within_parent: bool


class Constructions:
    """Remembers how each live module was constructed."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, Construction] = weakref.WeakKeyDictionary()

    def install(self) -> None:
        """Record constructors from now on."""
        import torch

        original = torch.nn.Module.__init__

        @functools.wraps(original)
        def init(module: Any, *args: Any, **kwargs: Any) -> None:
            original(module, *args, **kwargs)
            if module not in self._known:
                self._known[module] = _construction(module, sys._getframe(1))

        torch.nn.Module.__init__ = init

    def of(self, module: Any) -> Construction | None:
        """How ``module`` was constructed. A copy has no constructor call: then another of its class with weights of the same shapes."""
        known = self._known.get(module)
        if known is not None:
            return known
        shapes = _shapes(module)
        for other, construction in list(self._known.items()):
            if type(other) is type(module) and other is not module and _shapes(other) == shapes:
                return construction
        return None

    def simple_attributes(self, target: Any) -> dict[str, Any]:
        """Numbers, strings and flags of a module and its submodules, by dotted path: they may change between calls."""
        import torch

        owner = getattr(target, "__self__", target)
        if not isinstance(owner, torch.nn.Module):
            return {}
        found: dict[str, Any] = {}
        for path, module in owner.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, SIMPLE) and (name == "training" or not name.startswith("_")):
                    found[f"{path}.{name}" if path else name] = value
            if len(found) > MAX_ATTRIBUTES:
                break
        return found


def _shapes(module: Any) -> list[tuple[str, tuple[int, ...]]]:
    return [(name, tuple(value.shape)) for name, value in module.named_parameters()]


def _construction(module: Any, frame: FrameType | None) -> Construction:
    """The outermost ``__init__`` of ``module`` on the stack, with its arguments as they are now."""
    outermost: FrameType | None = None
    within_parent = False
    while frame is not None:
        if frame.f_code.co_name == "__init__" and frame.f_code.co_varnames:
            owner = frame.f_locals.get(frame.f_code.co_varnames[0])
            if owner is module:
                outermost = frame
            elif _is_module(owner):
                within_parent = True
                break
        frame = frame.f_back
    if outermost is None:
        return Construction((), {}, within_parent)
    return Construction(*_arguments(outermost), within_parent)


def _is_module(value: Any) -> bool:
    import torch

    return isinstance(value, torch.nn.Module)


def _arguments(frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    names, star, star_star, values = inspect.getargvalues(frame)
    code = frame.f_code
    keyword_only = names[len(names) - code.co_kwonlyargcount :] if code.co_kwonlyargcount else []
    positional = names[: len(names) - len(keyword_only)][1:]
    args = tuple(values[name] for name in positional if name in values)
    kwargs = {name: values[name] for name in keyword_only if name in values}
    if star:
        args += tuple(values.get(star, ()))
    elif code.co_posonlyargcount <= 1:
        # by name, as people write them
        kwargs = {**{name: values[name] for name in positional if name in values}, **kwargs}
        args = ()
    if star_star:
        kwargs.update(values.get(star_star, {}))
    return args, kwargs
