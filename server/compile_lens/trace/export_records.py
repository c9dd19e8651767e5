"""Reads the problems that ``torch.export.draft_export`` records, where a plain export would have failed or been wrong.

The records are those that it makes its own report of (torch/export/_draft_export.py, torch 2.13): they are written while it runs, and
else only with ``TORCH_DTRACE=1``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compile_lens.trace.records import Record
from compile_lens.trace.report import ExportProblem, ExportProblemKind, StackFrame


class ExportProblems:
    """Collects the problems of every draft export of a run, each once."""

    def __init__(self, stack_entry: Callable[[dict[str, Any]], StackFrame]) -> None:
        self._stack_entry = stack_entry
        self._found: dict[tuple[ExportProblemKind, str, str, tuple[StackFrame, ...]], ExportProblem] = {}
        self._began = 0
        self.readers: dict[str, Callable[[Record], None]] = {
            "export": self._on_begin,
            "exported_program": self._on_end,
            **{kind.value: self._on_problem for kind in ExportProblemKind},
        }

    def found(self) -> tuple[ExportProblem, ...]:
        """The problems so far, in the order in which they were met."""
        return tuple(self._found.values())

    def _on_begin(self, record: Record) -> None:
        self._began += 1

    def _on_end(self, record: Record) -> None:
        self._began = 0

    def _on_problem(self, record: Record) -> None:
        fields = record.fields
        kind = ExportProblemKind(record.kind)
        is_guard = kind is ExportProblemKind.GUARD_ADDED
        # a guard is a problem where draft export begins anew, after the constraints of its caller did not hold; one on a value that
        # only data tells has a record of its own
        if is_guard and (self._began < 2 or not fields["symbol_to_sources"] or fields["prefix"] == "runtime_assert"):
            return
        problem = ExportProblem(
            kind=kind,
            subject=str(fields.get("op") or fields.get("expr")),
            reason=str(fields.get("reason") or fields.get("result") or ""),
            sources=tuple(str(source) for source in (fields.get("symbol_to_sources") or {}).values()),
            stack=tuple(self._stack_entry(entry) for entry in fields.get("user_stack") or record.stack or ()),
        )
        # the operators of a decomposition repeat what the first of them met
        self._found.setdefault((kind, problem.subject, problem.reason, problem.stack), problem)
