"""Collects the records of one compilation while they arrive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from compile_lens.trace.break_text import parse_reason
from compile_lens.trace.failure_text import parse_user_stack, raised_message
from compile_lens.trace.records import Payload
from compile_lens.trace.report import (
    NO_COSTS,
    Compilation,
    CompileFailure,
    Costs,
    GraphBreak,
    Recompile,
    ResumeOf,
    StackFrame,
)
from compile_lens.trace.stack_text import is_resume

MICROSECOND = 1e-6

TYPES_OF_METRICS = {
    "co_name": str,
    "co_filename": str,
    "co_firstlineno": int,
    "graph_op_count": int,
    "fail_user_frame_filename": str,
    "fail_user_frame_lineno": int,
}


class OpenCompilation(Struct):
    """What the records of one compile id have said so far; fields as in ``Compilation``."""

    compile_id: str
    name: str = ""
    file: str = ""
    line: int = 0
    region: int | None = None
    call_stack: tuple[StackFrame, ...] = ()
    has_note: bool = False
    has_started: bool = False
    has_ended: bool = False
    has_lost_break: bool = False
    attempts: int = 1
    graphs: int = 0
    seconds: float = 0.0
    ops: int | None = None
    breaks: list[GraphBreak] = field(default_factory=list)
    recompile: Recompile | None = None
    failure: CompileFailure | None = None
    failure_text: str = ""
    hit_limit: str | None = None
    fails_call: bool = False
    restart_reasons: tuple[str, ...] = ()
    costs: Costs = NO_COSTS
    backward: Costs = NO_COSTS
    guards: Payload | None = None

    def callers(self) -> tuple[StackFrame, ...]:
        """The stack above a frame; above a resume function, without the function that it resumes, which called it."""
        resumed = is_resume(self.name)
        stack = self.call_stack
        while resumed and stack and (stack[-1].file, stack[-1].name) == (self.file, resumed[0]):
            stack = stack[:-1]
        return stack

    def forget_stub(self, at: StackFrame, own: str) -> None:
        """Forget breaks and the failure where the program needed a stub, of which only frames in the file ``own`` are seen: with the
        library that it stands for, they would be others."""

        def is_there(stack: tuple[StackFrame, ...]) -> bool:
            last = next((each for each in reversed(stack) if each.file != own), None)
            return last is not None and (last.file, last.line) == (at.file, at.line)

        kept = [each for each in self.breaks if not is_there(each.stack)]
        is_lost = len(kept) < len(self.breaks) or (self.failure is not None and is_there(self.failure.stack))
        self.has_lost_break = self.has_lost_break or is_lost
        self.breaks = kept

    def _final_breaks(self, failed: bool) -> tuple[GraphBreak, ...]:
        """The breaks, without what only announced another break, or the failure."""
        real = tuple(found for found in self.breaks if not found.reason.is_forerunner)
        return real if real or failed else tuple(self.breaks)

    def closed(self, goes_on: bool = False) -> Compilation:
        """What is known of it so far, as it goes into the report. ``goes_on``: more records may come."""
        resumed = is_resume(self.name)
        failure = None if self.has_lost_break else self.failure
        if failure is None and self.failure_text and not self.has_lost_break and not goes_on:
            # the error has been written, the metrics that end the frame never: the process died
            reason = parse_reason(raised_message(self.failure_text))
            failure = CompileFailure(
                "", reason.title, None, None, parse_user_stack(self.failure_text), self.failure_text
            )
        return Compilation(
            compile_id=self.compile_id,
            name=self.name,
            file=self.file,
            line=self.line,
            resume_of=ResumeOf(*resumed) if resumed else None,
            region=self.region,
            call_stack=self.callers(),
            attempts=self.attempts,
            graphs=self.graphs,
            ops=self.ops,
            seconds=self.seconds,
            breaks=self._final_breaks(failure is not None),
            recompile=self.recompile,
            failure=failure,
            hit_limit=self.hit_limit,
            fails_call=self.fails_call,
            restart_reasons=self.restart_reasons,
            costs=self.costs,
            backward=self.backward,
            guards=self.guards,
        )


def checked_metrics(fields: dict[str, Any]) -> dict[str, Any]:
    """``fields`` if they are of the types that torch writes: a program may write them, too. Raises TypeError."""
    for name, kind in TYPES_OF_METRICS.items():
        if not isinstance(fields.get(name), (kind, type(None))):
            raise TypeError(f"{name} is no {kind.__name__}")
    return fields


def costs_of(fields: Mapping[str, Any]) -> Costs:
    """The costs in ``compilation_metrics`` (torch/_dynamo/utils.py, torch 2.6 to 2.13); a backward pass has only a duration."""
    latency = fields.get("guard_latency_us")
    return Costs(
        frame=float(fields.get("entire_frame_compile_time_s") or (fields.get("duration_us") or 0) * MICROSECOND),
        backend=_seconds(fields, "backend_compile_time_s"),
        inductor=_seconds(fields, "inductor_compile_time_s"),
        code_generation=_seconds(fields, "code_gen_time_s"),
        triton=(fields["triton_compile_time_us"] * MICROSECOND) if fields.get("triton_compile_time_us") else None,
        guards=int(fields.get("guard_count") or 0),
        guard_latency_us=int(latency) if latency is not None else None,
        cuda_graph_skip=str(fields.get("cudagraph_skip_reason") or ""),
    )


def _seconds(fields: Mapping[str, Any], name: str) -> float | None:
    value = fields.get(name)
    return float(value) if value is not None else None
