"""One trial: a call on fake tensors of symbolic sizes, and every question that was asked about the sizes on the way."""

from __future__ import annotations

import contextlib
import itertools
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .dimensions import Question, Unknowns, as_code

# questions before an error that are looked at
MOST_QUESTIONS = 24


@dataclass(frozen=True, slots=True)
class Trial:
    """How a trial ended: ``error`` is None when the call came back. ``questions`` are those asked last, newest first."""

    error: Exception | None
    questions: tuple[Question, ...] = ()


class Recorder:
    """A ShapeEnv that remembers what it is asked."""

    def __init__(self, unknowns: Unknowns) -> None:
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        asked: list[tuple[Any, Any]] = []

        class Recording(ShapeEnv):
            def evaluate_expr(self, orig_expr: Any, *args: Any, **kwargs: Any) -> Any:
                answer = super().evaluate_expr(orig_expr, *args, **kwargs)
                asked.append((orig_expr, answer))
                return answer

        self.asked = asked
        # sizes of 0 and 1 and equal sizes stay symbols of their own: what is found must not lean on a coincidence
        self.env = Recording(specialize_zero_one=False, duck_shape=False)
        self._unknowns = unknowns
        self._symbols: dict[str, str] = {}
        self._made: dict[str, Any] = {}

    def size(self, name: str) -> Any:
        """The symbolic integer of an unknown; the plain one where a source fixes it."""
        from torch._dynamo.source import ConstantSource
        from torch.fx.experimental.symbolic_shapes import DimDynamic

        unknown = self._unknowns.by_name[name]
        if unknown.fixed:
            return unknown.value
        if name not in self._made:
            source = ConstantSource(f"size_{name}")
            symbol = self.env.create_unspecified_symbol(unknown.value, source, DimDynamic.DYNAMIC)
            self._symbols[str(symbol)] = name
            self._made[name] = self.env.create_symintnode(symbol, hint=unknown.value, source=source)
        return self._made[name]

    def questions(self) -> Iterator[Question]:
        """What was asked, newest first, as far as it is about unknowns and has a yes or a no for an answer."""
        for expression, answer in reversed(self.asked):
            symbols = [str(symbol) for symbol in getattr(expression, "free_symbols", ())]
            is_decided = str(answer) in ("True", "False")
            if not symbols or not is_decided or any(symbol not in self._symbols for symbol in symbols):
                continue
            code = as_code(expression)
            if code is not None:
                names = tuple((symbol, self._symbols[symbol]) for symbol in sorted(symbols))
                yield Question(code, names, str(answer) == "True")


def attempt(unknowns: Unknowns, call: Callable[[Callable[[str], Any]], object]) -> Trial:
    """Let ``call`` run on fake tensors. It is given a function from the name of an unknown to its symbolic size."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    recorder = Recorder(unknowns)
    state = torch.random.get_rng_state()
    try:
        with quiet(), FakeTensorMode(shape_env=recorder.env, allow_non_fake_inputs=True):
            call(recorder.size)
    except Exception as error:
        return Trial(error, tuple(itertools.islice(recorder.questions(), MOST_QUESTIONS)))
    finally:
        torch.random.set_rng_state(state)
    return Trial(None)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No log, and no record of the structured trace: what is tried is nobody's run."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
