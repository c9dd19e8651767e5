"""What a run tells of itself besides its trace: how it ended, and what its sandbox did."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from compile_lens.analysis.outcome import EntryCall
from compile_lens.analysis.run_context import MissingRequirement, Raised, RefusedCall
from compile_lens.trace.report import StackFrame
from compile_lens.workers.job import End, EndKind, Job
from compile_lens.workers.wire import AgentEvent

NAMED = 3


@dataclass(slots=True)
class RunFacts:
    """Collected while the program runs. Every field of an event may be anything: a program can write frames of its own."""

    raised: Raised | None = None
    unreadable: str = ""
    unsafe: str = ""
    sandbox: str = ""
    weaker: str = ""
    open_ends: tuple[str, ...] = ()
    refused: list[RefusedCall] = field(default_factory=list)
    not_kept: tuple[str, ...] = ()
    not_kept_count: int = 0
    unusable: str = ""
    calls: list[EntryCall] = field(default_factory=list)
    not_called: list[tuple[str, str]] = field(default_factory=list)
    degraded: dict[str, str] = field(default_factory=dict)

    def take(self, event: AgentEvent) -> None:
        """Take what one event says."""
        fields = event.fields
        try:
            if event.name == "raised":
                self.raised = _raised(fields)
            elif event.name == "unreadable":
                self.unreadable = str(fields["message"])
            elif event.name == "unusable":
                self.unusable = str(fields["message"])
            elif event.name == "entry":
                self.calls += [EntryCall(**call) for call in fields["calls"]]
                self.not_called += [(failed["target"], failed["reason"]) for failed in fields["failed"]]
            elif event.name == "unsafe":
                self.unsafe = str(fields["message"])
            elif event.name == "sandbox":
                self.sandbox, self.weaker = str(fields["kind"]), str(fields["reason"])
                self.open_ends = tuple(map(str, fields["open_ends"]))
            elif event.name == "refused":
                stack = tuple(map(_frame, fields["stack"]))
                self.refused.append(RefusedCall(str(fields["what"]), str(fields["does"]), str(fields["target"]), stack))
            elif event.name == "not_kept":
                self.not_kept, self.not_kept_count = tuple(map(str, fields["names"])), int(fields["count"])
            elif event.name == "degraded":
                self.degraded[str(fields["what"])] = str(fields["why"])
        except (KeyError, TypeError, ValueError):
            return

    def notes(self, end: End | None, job: Job) -> tuple[str, ...]:
        """Sentences for the user about the run as a whole."""
        notes = []
        if job.up_to:
            notes.append(f"The file was run up to line {job.up_to}, as you asked; what stands below was not.")
        if end is not None and end.kind is EndKind.IDLE:
            notes.append(
                f"The run was ended early: nothing had been compiled for {job.budget.idle_s:g} seconds "
                "(compileLens.budget.idle, --idle)."
            )
        if job.launch:
            notes.append(f'Arguments, environment and folder are those of "{job.launch}" in .vscode/launch.json.')
        if self.not_kept:
            named = ", ".join(_shown(name, job) for name in self.not_kept[:NAMED])
            more = self.not_kept_count - min(len(self.not_kept), NAMED)
            files = "a file" if self.not_kept_count == 1 else f"{self.not_kept_count} files"
            notes.append(
                f"The program wrote {files} that went with the run: {named}{f' and {more} more' if more else ''} "
                "(keep with --allow-write or --no-sandbox)."
            )
        if self.open_ends and self.sandbox:
            notes.append(f"The sandbox did not hold: {', '.join(self.open_ends)}{_because(self.weaker)}.")
        notes += [f"Unavailable: {what} ({why})." for what, why in self.degraded.items()]
        return tuple(notes)


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""


def _shown(name: str, job: Job) -> str:
    folder = os.path.realpath(job.cwd or os.path.dirname(job.file))  # noqa: PTH120 - as the program says it
    return name.removeprefix(folder + os.sep)


def _frame(entry: dict[str, Any]) -> StackFrame:
    return StackFrame(
        file=entry["file"],
        line=entry["line"],
        name=entry["name"],
        text=entry["text"],
        column=entry.get("column"),
        end_line=entry.get("end_line"),
        end_column=entry.get("end_column"),
    )


def _raised(fields: dict[str, Any]) -> Raised:
    stack = tuple(map(_frame, fields["stack"]))
    lacking = fields.get("lacking")
    missing = MissingRequirement(str(lacking["what"]), str(lacking["name"])) if lacking else None
    return Raised(fields["type"], fields["module"], fields["message"], stack, fields["formatted"], missing)
