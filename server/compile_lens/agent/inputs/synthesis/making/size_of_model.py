"""Constructs a model without memory, to see how large it is before anything is allocated."""

from __future__ import annotations

import functools
import os
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ....instrument.unrecorded import unrecorded
from ....runtime.foreign_code import attempted
from ....torch_internals.core import FAKE_TENSOR_MODE
from ...calling import expressions
from ...calling.parameter_count import parameter_count
from ...calling.time_limit import SlowTrial, at_most
from ..errors.failing_lines import failing_place

# larger models are made smaller or have no memory: they are constructed on the meta device
MAX_PARAMETERS = 80_000_000
# those that cannot be constructed there
MOST_IN_MEMORY = 250_000_000
# what a constructor that fails on fake tensors may raise, also after it has handled torch's own error
OF_FAKE_TENSORS = (RuntimeError, UnboundLocalError, ValueError)
# of processor time; what has no end is ended by the limit around it
ON_FAKE_TENSORS_S = 1.0
# what of that has passed at least when it ends
TIMER = 0.9
# the folder of their code
_FAKE_TENSORS = os.path.join("torch", "_subclasses")

# the namespaces of modules, by their ids, and the names that are called in them
_slow_on_fakes: set[tuple[int, str]] = set()


class TooLarge(Exception):
    """A model with more parameters than a background run should allocate."""


def place(is_meta: bool) -> AbstractContextManager[Any]:
    """A context in which tensors have no memory if ``is_meta``."""
    import torch

    return torch.device("meta") if is_meta else nullcontext()


def without_memory(dtype: str, shape: tuple[Any, ...], below: int | None = None, equal: int | None = None) -> Any:
    """The tensor for ``float32[2, 16]`` in a trial on fake tensors."""
    import torch

    return torch.empty(shape, dtype=getattr(torch, dtype))


def made_by(text: str, names: dict[str, Any]) -> Any:
    """The value of an expression of the entry's form. Raises what the program raises."""
    return expressions.evaluate(f"__run__({text})", {**names, "__run__": lambda value: value}).run()


def needs_memory(names: dict[str, Any], text: str) -> bool:
    """Whether the constructor call ``text`` reads numbers of the tensors that it makes, so that it fails on the meta device, and makes
    what still has room here."""
    try:
        with unrecorded(), place(True):
            made_by(text, names)
    except Exception as error:  # code of the user's may raise anything
        is_of_meta = "meta" in str(error) or isinstance(error, NotImplementedError)
        return is_of_meta and attempted(lambda: check_size(names, text, MOST_IN_MEMORY)) is not None
    return False


def check_size(names: dict[str, Any], text: str, most: int = MAX_PARAMETERS) -> int:
    """Construct the object on fake tensors, and return how many parameters it has. Raises TooLarge, and what its constructor raises.

    One that fake tensors cannot construct is constructed as it is: what that raises shows which arguments are wrong. So is one that fills
    a table number by number, which takes thirty times as long with them: other calls of it are not tried with them.
    """
    _begin_fake_tensors()
    started = time.process_time()
    called = (id(names), text.partition("(")[0])
    try:
        if called in _slow_on_fakes:
            raise SlowTrial
        with FAKE_TENSOR_MODE.need()(allow_non_fake_inputs=True), at_most(ON_FAKE_TENSORS_S, SlowTrial):
            made = made_by(text, names)
    except Exception as error:  # code of the user's may raise anything
        # a library that handles the end of a trial raises something else
        is_slow = isinstance(error, SlowTrial) or time.process_time() - started > ON_FAKE_TENSORS_S * TIMER
        if not (is_slow or isinstance(error, OF_FAKE_TENSORS) or _is_fake_tensor_error(error)):
            raise
        if is_slow:
            _slow_on_fakes.add(called)
        made = made_by(text, names)
    count = parameter_count(made) if hasattr(made, "parameters") else 0
    if count > most:
        raise TooLarge(f"it has {count / 1e6:.0f} million parameters")
    return count


@functools.cache
def _begin_fake_tensors() -> None:
    """Import what the first fake tensor needs: it takes as long as a slow constructor does."""
    import torch

    with FAKE_TENSOR_MODE.need()():
        torch.empty(1).add_(1)


def _is_fake_tensor_error(error: BaseException | None) -> bool:
    """Whether ``error`` is one of fake tensors, or was raised while one of theirs was handled: `torch.jit.trace` compares results."""
    while error is not None:
        name = type(error).__name__
        if "Fake" in str(error) or name in ("DataDependentOutputException", "DynamicOutputShapeException"):
            return True
        if _FAKE_TENSORS in failing_place(error)[0]:
            return True
        error = error.__context__
    return False
