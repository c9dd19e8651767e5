"""The modes in which a program makes one call of a model: its function modes, and autocast. They are put back for that call alone.

A function mode of the program's own (``torch.overrides.TorchFunctionMode``: it traces, counts or replaces what torch is asked for) is
traced by the compiler with the model. Torch's own, as that of ``torch.device``, are known in other ways.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...instrument.region_calls import autocast_now
from ...runtime.foreign_code import attempted
from ...torch_internals.core import FUNCTION_MODES
from ...variations.call_snapshot import in_autocast

# of the modes around one call
MOST_BYTES = 1 << 20
# packages whose modes are not the program's
_NOT_OF_PROGRAM = frozenset({"torch", __name__.partition(".")[0]})


@dataclass(frozen=True)
class CallModes:
    """``functions`` are the program's function modes, the outermost first, as bytes: what they count goes on after the call. ``classes``
    tells their classes and switches, and ``autocast`` the types of devices for which it is on, with the names of the dtypes."""

    functions: bytes = b""
    classes: tuple[str, ...] = ()
    autocast: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """A text that is the same for calls in modes that are alike."""
        return f"{self.classes}{self.autocast}"


PLAIN = CallModes()


def modes_now() -> CallModes:
    """What tells the modes that are in force from others; with ``packed``, they can be put back."""
    classes = attempted(lambda: tuple(map(_class_and_switches, _function_modes()))) or ()
    autocast = tuple((device, dtype) for device, dtype in autocast_now())
    return CallModes(classes=classes, autocast=autocast) if classes or autocast else PLAIN


def packed(modes: CallModes) -> CallModes:
    """``modes``, which are in force, with the function modes themselves, unless they are large: one may hold a model."""
    data = (attempted(lambda: pickle.dumps(_function_modes())) or b"") if modes.classes else b""
    return replace(modes, functions=data if len(data) <= MOST_BYTES else b"")


def _class_and_switches(mode: Any) -> str:
    """Numbers are left out: a mode may count its calls."""
    switches = {name: value for name, value in vars(mode).items() if type(value) in (bool, str)}
    return f"{type(mode).__module__}.{type(mode).__qualname__}{switches}"


def _function_modes() -> tuple[Any, ...]:
    stack = FUNCTION_MODES.look_up()
    modes = stack() if stack is not None else ()
    return tuple(each for each in modes if type(each).__module__.partition(".")[0] not in _NOT_OF_PROGRAM)


@contextlib.contextmanager
def in_modes(modes: CallModes) -> Iterator[None]:
    """In the body, ``modes`` are in force, as far as they can be made again."""
    functions = (attempted(lambda: pickle.loads(modes.functions)) if modes.functions else None) or ()
    with contextlib.ExitStack() as stack:
        stack.enter_context(in_autocast(modes.autocast))
        for each in functions:
            stack.enter_context(each)
        yield
