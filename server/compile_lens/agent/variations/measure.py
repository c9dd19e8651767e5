"""Makes the calls of one region's variations, and marks in the trace what belongs to which.

Notes named ``compile_lens_variation``: ``reset`` (Dynamo knows nothing any more; what follows is none of the program's own), ``call``
(a call of a variation begins), ``called`` (it is over), ``rejected`` (the program itself does not take such inputs), ``left`` (there was
no time), ``skipped`` (a region cannot be varied) and ``over``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..inputs.synthesis.trial import quiet
from ..instrument.trace_sink import write_note
from .kinds import Variation, variations
from .modules import modules_of
from .snapshot import Names, Snapshot

NAME = "compile_lens_variation"
MOST_WORDS = 2000


@dataclass(frozen=True, slots=True)
class Region:
    """A compile region that was called. ``compiled`` is called as the program does; ``fn`` is what it wraps."""

    number: int
    name: str
    compiled: Callable[..., Any]
    fn: Callable[..., Any]
    first_call: Snapshot


def measure(region: Region, end: float) -> None:
    """Vary the first call of ``region`` until the time is ``end``."""
    with _apart():
        _Measurement(region, end).run()


@contextmanager
def _apart() -> Iterator[None]:
    """What is traced from here on names its files anew, since a reader keeps it apart."""
    import torch._logging.structured as structured

    known = dict(structured.INTERN_TABLE)
    try:
        yield
    finally:
        _note("over")
        structured.INTERN_TABLE.clear()
        structured.INTERN_TABLE.update(known)


def _note(what: str, **fields: Any) -> None:
    write_note(NAME, {"what": what, **fields})


class _Measurement:
    def __init__(self, region: Region, end: float) -> None:
        self._region = region
        self._end = end
        self._is_fresh = False

    def run(self) -> None:
        region = self._region
        problem = self._from_the_start()
        if problem is not None:
            _note("skipped", region=region.number, name=region.name, **problem)
            return
        names = Names(region.fn)
        for variation in variations(region.first_call, names, modules_of(region.fn, region.first_call)):
            about = {"region": region.number, "name": region.name, "kind": variation.kind, "phrase": variation.phrase}
            if time.monotonic() > self._end:
                _note("left", **about)
            else:
                self._vary(variation, about)

    def _vary(self, variation: Variation, about: dict[str, Any]) -> None:
        with quiet():
            problem = _problem(lambda: self._eagerly(variation.calls[0]))
        if problem is not None:
            _note("rejected", **about, **problem)
            return
        if not self._is_fresh:
            self._from_the_start()
        for step, call in enumerate(variation.calls):
            _note("call", **about, step=step)
            before = _compiled_frames()
            failed = _problem(partial(call.call, self._region.compiled))
            # what has compiled nothing has left the state as it was
            self._is_fresh = self._is_fresh and failed is None and _compiled_frames() == before
            _note("called", **about, step=step, **(failed or {}))
            if failed is not None:
                break

    def _from_the_start(self) -> dict[str, str] | None:
        """Forget all that was compiled, and make the call as it was; what it raises."""
        import torch._dynamo
        import torch._logging.structured as structured

        torch._dynamo.reset()
        structured.INTERN_TABLE.clear()
        _note("reset", region=self._region.number)
        self._is_fresh = True
        return _problem(lambda: self._region.first_call.call(self._region.compiled))

    def _eagerly(self, call: Snapshot) -> None:
        from ..inputs.synthesis.target import eager

        with eager():
            call.call(self._region.fn)


def _compiled_frames() -> tuple[int, int]:
    """How often Dynamo has begun to compile: a counter of its own (torch/_dynamo/utils.py, torch 2.6 to 2.13)."""
    import torch._dynamo.utils as utils

    return sum(utils.counters["frames"].values()), sum(utils.counters["stats"].values())


def _problem(make: Callable[[], object]) -> dict[str, str] | None:
    try:
        make()
    except Exception as error:
        return {"type": type(error).__name__, "message": str(error)[:MOST_WORDS]}
    return None
