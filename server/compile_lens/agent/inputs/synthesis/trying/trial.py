"""Tries a call on fake tensors of symbolic sizes, and records every condition on the sizes that is evaluated."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ....instrument.unrecorded import unrecorded
from ....torch_internals.core import FAKE_TENSOR_MODE
from ....torch_internals.dynamo import CONSTANT_SOURCE
from ...calling.time_limit import SlowTrial, TrialTooLong
from ..terms.dimensions import SizeCondition, Unknowns, as_code

# conditions before an error that are considered
MAX_CONDITIONS = 24


@dataclass(frozen=True, slots=True)
class Trial:
    """How a trial ended: ``error`` is None when the call returned. ``conditions`` are the last ones evaluated, newest first."""

    error: Exception | None
    conditions: tuple[SizeCondition, ...] = ()


class ConditionRecorder:
    """A ShapeEnv that remembers the conditions it evaluates."""

    def __init__(self, unknowns: Unknowns) -> None:
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        evaluated: list[tuple[Any, Any]] = []

        class RecordingShapeEnv(ShapeEnv):
            def evaluate_expr(self, orig_expr: Any, *args: Any, **kwargs: Any) -> Any:
                outcome = super().evaluate_expr(orig_expr, *args, **kwargs)
                evaluated.append((orig_expr, outcome))
                return outcome

        self.evaluated = evaluated
        # sizes of 0 and 1 and equal sizes stay separate symbols: what is found must not depend on a coincidence
        self.env = RecordingShapeEnv(specialize_zero_one=False, duck_shape=False)
        self._unknowns = unknowns
        self._symbols: dict[str, str] = {}
        self._sizes: dict[str, Any] = {}

    def size(self, name: str) -> Any:
        """The symbolic integer for an unknown; a plain one for a fixed size."""
        from torch.fx.experimental.symbolic_shapes import DimDynamic

        unknown = self._unknowns.by_name[name]
        if unknown.fixed:
            return unknown.value
        if name not in self._sizes:
            source = CONSTANT_SOURCE.need()(f"size_{name}")
            symbol = self.env.create_unspecified_symbol(unknown.value, source, DimDynamic.DYNAMIC)
            self._symbols[str(symbol)] = name
            self._sizes[name] = self.env.create_symintnode(symbol, hint=unknown.value, source=source)
        return self._sizes[name]

    def conditions(self) -> Iterator[SizeCondition]:
        """The conditions on unknowns that were decided, newest first."""
        for expression, outcome in reversed(self.evaluated):
            symbols = [str(symbol) for symbol in getattr(expression, "free_symbols", ())]
            is_decided = str(outcome) in ("True", "False")
            if not symbols or not is_decided or any(symbol not in self._symbols for symbol in symbols):
                continue
            code = as_code(expression)
            if code is not None:
                names = tuple((symbol, self._symbols[symbol]) for symbol in sorted(symbols))
                yield SizeCondition(code, names, str(outcome) == "True")


class EndedProgram(Exception):
    """A trial ended the program, as a constructor does that parses arguments: one that failed, and the search goes on."""


def ended_with(end: SystemExit) -> EndedProgram:
    """The failure of a trial that raised ``end``."""
    return EndedProgram(f"it ended the program with sys.exit({end.code!r})").with_traceback(end.__traceback__)


def attempt(unknowns: Unknowns, call: Callable[[Callable[[str], Any]], object]) -> Trial:
    """Run ``call`` on fake tensors. It is passed a function from the name of an unknown to its symbolic size."""
    import torch

    recorder = ConditionRecorder(unknowns)
    state = torch.random.get_rng_state()
    try:
        with unrecorded(), FAKE_TENSOR_MODE.need()(shape_env=recorder.env, allow_non_fake_inputs=True):
            call(recorder.size)
    except TrialTooLong as late:
        if not isinstance(late, SlowTrial):
            raise
        return Trial(late)
    except SystemExit as end:
        return Trial(ended_with(end), tuple(itertools.islice(recorder.conditions(), MAX_CONDITIONS)))
    except Exception as error:  # code of the user's may raise anything
        return Trial(error, tuple(itertools.islice(recorder.conditions(), MAX_CONDITIONS)))
    finally:
        torch.random.set_rng_state(state)
    return Trial(None)
