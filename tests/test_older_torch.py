"""What the agent does with releases of torch before 2.13, beside what the installed one does itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")
break_positions = agent_module("instrument.break_positions")
trace_sink = agent_module("instrument.trace_sink")
core: Any = agent_module("torch_internals.core")


@pytest.fixture
def errors(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Each ``Unsupported`` that is raised, with the positions that are kept for a torch without columns."""
    import torch

    raised: list[Any] = []
    unsupported = torch._dynamo.exc.Unsupported
    keeping = break_positions._keeping(unsupported.__init__)

    def init(error: Any, *args: Any, **kwargs: Any) -> None:
        keeping(error, *args, **kwargs)
        raised.append(error)

    monkeypatch.setattr(break_positions, "WITH_COLUMNS", (9, 9))
    monkeypatch.setattr(unsupported, "__init__", init)
    torch._dynamo.reset()
    yield raised
    torch._dynamo.reset()


def inner(x: Any) -> Any:
    return x * (1 + x.max().item()) + (lambda row: row.flatten().tolist()[0])(x)


def outer(x: Any) -> Any:
    y = inner(x.sin()) + inner(x)
    return y if y.sum() > 0 and len(print("negative") or [y]) else inner(next(part for part in y.unbind()))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="instructions have no positions")
def test_the_columns_of_breaks_are_those_that_torch_knows(errors: list[Any]) -> None:
    import torch

    torch.compile(outer, backend="eager")(torch.ones(3))
    torch.compile(outer, backend="eager")(-torch.ones(3))
    known = [[(f.lineno, f.colno, f.end_colno) for f in error.real_stack] for error in errors]
    kept = [[(f.lineno, f.colno, f.end_colno) for f in break_positions.with_positions(e.real_stack)] for e in errors]
    assert kept == known
    assert {len(stack) for stack in kept} >= {1, 2}


def test_the_record_of_a_frame_is_seen_before_it_is_sent() -> None:
    import torch

    log = core.TRACE_LOG.need()
    handlers, level = list(log.handlers), log.level
    seen: list[str] = []

    def on_record(logging_call: FrameType) -> None:
        seen.append(logging_call.f_code.co_filename.rpartition("torch")[2])

    trace_sink.watch_records("dynamo_start", on_record)
    try:
        log.setLevel("DEBUG")
        torch._dynamo.reset()
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
    finally:
        log.handlers[:] = handlers
        log.setLevel(level)
    assert seen == ["/_logging/_internal.py"]
