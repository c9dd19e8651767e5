"""Collects what a run says about itself besides its trace: how it ended, and what its sandbox did."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from compile_lens.agent.runtime.entry_protocol import (
    ArgumentsMadeUp,
    CallsCovered,
    CallStopped,
    EntryCalled,
    EntryUnusable,
    ImportHelped,
    ModelAssumed,
    RunAsModule,
    StatementsSkipped,
    WorkingFolderChosen,
)
from compile_lens.agent.runtime.protocol import (
    AbilityLost,
    AgentEvent,
    CallRefused,
    FilesDiscarded,
    FileUnreadable,
    ProgramRaised,
    RaisedAside,
    SandboxEntered,
    SandboxFailed,
    StackLine,
)
from compile_lens.analysis.coverage import NotCalled
from compile_lens.analysis.error_words import first_words
from compile_lens.analysis.outcome import EntryCall
from compile_lens.analysis.run_context import BLOCKED, MissingRequirement, Raised, RaisedBeside, RefusedCall
from compile_lens.analysis.run_errors import DISTUTILS, DISTUTILS_HINT
from compile_lens.late_pattern import pattern
from compile_lens.trace.report import StackFrame
from compile_lens.wording import and_more, counted
from compile_lens.workers.command import workspace_of
from compile_lens.workers.job import End, EndKind, Job
from compile_lens.workers.kept_folders import links_among

NAMED = 10
# "cannot import name 'x' from 'y' (/usr/lib/y.py)"
_PLACE = pattern(r" \([^()]*(?:[/\\][^()]*|unknown location)\)$")


@dataclass(slots=True)
class RunFacts:
    """Collected while the program runs."""

    is_sandboxed: bool = True
    raised: Raised | None = None
    raised_aside: list[RaisedBeside] = field(default_factory=list)
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
    not_called: list[NotCalled] = field(default_factory=list)
    covered: CallsCovered | None = None
    stopped_calls: dict[str, float] = field(default_factory=dict)
    degraded: dict[str, str] = field(default_factory=dict)
    helped_imports: dict[str, str] = field(default_factory=dict)
    lacking_imports: dict[str, str] = field(default_factory=dict)
    working_folder: WorkingFolderChosen | None = None
    renamed_imports: dict[str, tuple[str, int]] = field(default_factory=dict)
    installed_extensions: dict[str, str] = field(default_factory=dict)
    moved_names: dict[str, str] = field(default_factory=dict)
    inherited_stubs: set[str] = field(default_factory=set)
    as_module: RunAsModule | None = None
    made_up_arguments: tuple[str, ...] = ()
    assumed_model: ModelAssumed | None = None
    skipped_lines: tuple[int, ...] = ()

    def take(self, event: AgentEvent) -> None:
        """Take what one event says."""
        if isinstance(event, ProgramRaised):
            self.raised = _raised(event)
        elif isinstance(event, RaisedAside):
            self.raised_aside.append(RaisedBeside(event.where, _raised(event.raised), event.owner))
        elif isinstance(event, FileUnreadable):
            self.unreadable = event.message
        elif isinstance(event, EntryUnusable):
            self.unusable = event.message
        elif isinstance(event, EntryCalled):
            self.calls += [EntryCall(call.text, call.making, call.inputs, call.target) for call in event.calls]
            self.not_called += [
                NotCalled(each.target, each.reason, each.draft, each.line, each.involved, each.beside, each.said)
                for each in event.failed
            ]
        elif isinstance(event, CallStopped):
            self.stopped_calls[event.target] = event.seconds
        elif isinstance(event, CallsCovered):
            self.covered = event
        elif isinstance(event, (SandboxFailed, SandboxEntered)):
            self._take_sandbox(event)
        elif isinstance(event, CallRefused) and event.what in BLOCKED:  # a program may send what it likes
            self.refused.append(RefusedCall(event.what, event.does, event.target, _stack(event.stack)))
        elif isinstance(event, FilesDiscarded):
            self.not_kept, self.not_kept_count = event.names, event.count
        elif isinstance(event, AbilityLost):
            self.degraded[event.what] = event.why
        elif isinstance(event, ImportHelped) and event.satisfied:
            self.renamed_imports[event.module] = (event.folder, event.satisfied)
        elif isinstance(event, ImportHelped):
            if event.is_compiled:
                self.installed_extensions[event.module] = event.folder
            elif event.instead:
                self.moved_names[event.module] = event.instead
            elif event.is_base:
                self.inherited_stubs.add(event.module)
            elif event.why:
                self.lacking_imports.setdefault(event.module, event.why)
            else:
                self.helped_imports[event.module] = event.folder
        elif isinstance(event, WorkingFolderChosen):
            self.working_folder = event
        elif isinstance(event, RunAsModule):
            self.as_module = event
        elif isinstance(event, ArgumentsMadeUp):
            self.made_up_arguments += event.names
        elif isinstance(event, ModelAssumed):
            self.assumed_model = event
        elif isinstance(event, StatementsSkipped):
            self.skipped_lines += event.lines

    @property
    def has_failed_to_import(self) -> bool:
        """Whether statements of the file raised, which then says more than that nothing could be called."""
        return any(
            beside.where not in ("thread", "atexit") and beside.raised.missing is None for beside in self.raised_aside
        )

    def _take_sandbox(self, event: SandboxFailed | SandboxEntered) -> None:
        """The first of these events comes before the program; a later one is the program's own."""
        if not self.is_sandboxed or self.sandbox or self.unsafe:
            return
        if isinstance(event, SandboxFailed):
            self.unsafe = event.message
        else:
            self.sandbox, self.weaker, self.open_ends = event.kind, event.reason, event.open_ends

    def copy(self) -> RunFacts:
        """What is known now, which no later event changes."""
        return dataclasses.replace(
            self,
            raised_aside=self.raised_aside.copy(),
            refused=self.refused.copy(),
            calls=self.calls.copy(),
            not_called=self.not_called.copy(),
            stopped_calls=self.stopped_calls.copy(),
            degraded=self.degraded.copy(),
            helped_imports=self.helped_imports.copy(),
            lacking_imports=self.lacking_imports.copy(),
            renamed_imports=self.renamed_imports.copy(),
            installed_extensions=self.installed_extensions.copy(),
            inherited_stubs=self.inherited_stubs.copy(),
            moved_names=self.moved_names.copy(),
        )

    def notes(self, end: End | None, job: Job) -> tuple[str, ...]:
        """Sentences for the user about the run as a whole."""
        notes = []
        if job.up_to:
            notes.append(f"Ran the file only up to line {job.up_to}, as requested.")
        if end is not None and end.kind is EndKind.IDLE:
            notes.append(
                f"Stopped after {job.budget.idle_s:g} s without compilation (`compileLens.budget.idle`, `--idle`). "
                "Findings so far are shown."
            )
        if job.launch:
            notes.append(
                f'Started with the arguments, environment and folder of "{job.launch}" in .vscode/launch.json.'
            )
        for target, seconds in self.stopped_calls.items():
            notes.append(
                f"Stopped the compiled call of `{target}` after {seconds:.0f} s of processor time. Findings so far are shown."
            )
        if self.calls and self.covered is None and self.not_called:
            # the coverage of a file lists its own
            reasons = {one.target: one.reason for one in reversed(self.not_called)}
            left = [f"`{target}` ({reason})" for target, reason in reversed(reasons.items())]
            notes.append(f"Not analyzed: {', '.join(left[:NAMED])}{and_more(len(left) - NAMED)}.")
        notes += self._stand_ins(job)
        if self.not_kept:
            named = ", ".join(f"`{_as_program_names_it(name, job)}`" for name in self.not_kept[:NAMED])
            more = and_more(self.not_kept_count - min(len(self.not_kept), NAMED))
            them = "it" if self.not_kept_count == 1 else "them"
            notes.append(
                f"Sandbox: discarded {counted(self.not_kept_count, 'file')} ({named}{more}). "
                f"Keep {them} with --allow-write or --no-sandbox."
            )
        if end is not None and end.left:
            notes.append(
                f"Sandbox: the program left about {counted(end.left, 'file')} in `/dev/shm`. Deleting them continues until the next run."
            )
        led = links_among(job.sandbox.allow_write, workspace_of(job)) if self.sandbox else ()
        notes += [
            f"Sandbox: what is written to `{path}` is not kept, because a link leads from there to "
            f"`{os.path.realpath(path)}`. Allow that folder instead, if you mean it."
            for path in led
        ]
        if self.open_ends and self.sandbox:
            notes.append(f"Sandbox: does not confine {', '.join(self.open_ends)}{_because(self.weaker)}.")
        notes += [f"Unavailable: {what} ({why})." for what, why in self.degraded.items()]
        return tuple(notes)

    def _stand_ins(self, job: Job) -> Iterator[str]:
        """What was added or made up so that the file could be run at all, and how to choose it."""
        if self.as_module is not None:
            module, failed = self.as_module.module, self.as_module.failed
            shown = f"`{_as_program_names_it(self.as_module.folder, job)}`"
            without = f" Importing `{module.rpartition('.')[0]}` first failed ({failed})." if failed else ""
            yield f"Ran like `python -m {module}` in {shown}, because the file imports from its own package.{without}"
        if self.working_folder is not None:
            chosen = self.working_folder
            shown = f"`{_as_program_names_it(chosen.folder, job)}`"
            yield f"Ran in the folder {shown}, where `{chosen.path}` is. Start from another folder to choose it."
        for name, folder in self.helped_imports.items():
            if folder:
                shown = f"`{_as_program_names_it(folder, job)}`"
                yield f"Added the folder {shown} to the import path for `{name}`. Set `PYTHONPATH` to choose another."
        for name, folder in self.installed_extensions.items():
            shown = f"`{_as_program_names_it(folder, job)}`"
            built = "Build the sources (`pip install -e .`) to use their own version."
            yield f"Took the compiled module `{name}` from {shown}: it is not beside the sources. {built}"
        for name, (folder, count) in self.renamed_imports.items():
            shown = f"`{_as_program_names_it(folder, job)}`"
            satisfied = f"it satisfies {count} of the project's imports"
            yield f"Used the folder {shown} as `{name}`: {satisfied}. Put a folder `{name}` on `PYTHONPATH` to choose another."
        if not self.helped_imports.get(DISTUTILS, DISTUTILS):
            yield f"`{DISTUTILS}` was replaced with a stub: Python has none since 3.12. {DISTUTILS_HINT}"
        stubs = [f"`{name}`" for name, folder in self.helped_imports.items() if not folder and name != DISTUTILS]
        if stubs:
            replaced = (
                "is not installed and was replaced with a stub"
                if len(stubs) == 1
                else "are not installed and were replaced with stubs"
            )
            yield f"{', '.join(stubs)} {replaced}. Calls that need more raise the import error."
        for why in dict.fromkeys(self.lacking_imports.values()):
            lacking = [f"`{name}`" for name, reason in self.lacking_imports.items() if reason == why]
            replaced = "was replaced with a stub" if len(lacking) == 1 else "were replaced with stubs"
            because = _PLACE.sub("", first_words(why))
            yield f"{', '.join(lacking)} cannot be imported here ({because}) and {replaced}. Calls that need more raise this error."
        for name, instead in self.moved_names.items():
            yield f"Used `{instead}` in place of `{name}`, which was removed."
        known = dict.fromkeys((*self.helped_imports, *sorted(self.inherited_stubs)))
        bases = [f"`{name}`" for name in known if name in self.inherited_stubs]
        if bases:
            yield f"Models that inherit from {', '.join(bases)} are plain modules."
        if self.made_up_arguments:
            named = ", ".join(f"`{name}`" for name in self.made_up_arguments)
            yield f"Made up the required arguments {named}. Pass your own after `--`."
        if self.assumed_model is not None:
            yield _why_assumed(self.assumed_model, job)
        if self.skipped_lines:
            lines = sorted(set(self.skipped_lines))
            shown = ", ".join(map(str, lines[: NAMED * 3]))
            word = "line" if len(lines) == 1 else "lines"
            yield f"Skipped statements that failed and those that need their results ({word} {shown}{and_more(len(lines) - NAMED * 3)})."


def _why_assumed(assumed: ModelAssumed, job: Job) -> str:
    of_file = f"`{assumed.model}` of `{_as_program_names_it(assumed.path, job)}`"
    if assumed.missing:
        return f"Used {of_file}, because `{assumed.missing}` cannot be imported."
    return f"Called {of_file}, which the script imports, because no model that it constructs is known. Pass `--entry` to call another."


def _raised(event: ProgramRaised) -> Raised:
    missing = MissingRequirement(event.missing.what, event.missing.name) if event.missing is not None else None
    stack = _stack(event.stack)
    return Raised(event.type, event.module, event.message, stack, event.formatted, missing, event.of_device)


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""


def _as_program_names_it(name: str, job: Job) -> str:
    folder = os.path.realpath(job.cwd or os.path.dirname(job.file))  # noqa: PTH120 - as the program says it
    return name.removeprefix(folder + os.sep)


def _stack(lines: Iterable[StackLine]) -> tuple[StackFrame, ...]:
    return tuple(StackFrame(**dataclasses.asdict(line)) for line in lines)
