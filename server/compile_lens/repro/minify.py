"""Minifies a repro in a process of the user's interpreter, which reports each smaller version that still fails."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compile_lens.agent.runtime.protocol import AbilityLost
from compile_lens.agent.runtime.search_protocol import (
    MinifyRequest,
    PhaseBegan,
    SearchNote,
    SearchUnfit,
    SmallerFound,
    SmallestChecked,
    TorchMinified,
)
from compile_lens.documents.source_file import read_utf8
from compile_lens.repro.beside import LARGEST_VALUES
from compile_lens.repro.contract import FIRST_LINE, Criterion, HeaderError, parse_header
from compile_lens.repro.scratch import scratch_folder
from compile_lens.state.atomic_file import copy_beside
from compile_lens.workers.access import Access
from compile_lens.workers.host import Host
from compile_lens.workers.job import End, EndKind, Job
from compile_lens.workers.wire import Frame

UNFIT = {
    "not-bad": "The repro does not fail, so there is nothing to minify.",
    "too-long": "The repro does not finish within {detail} s, the time limit of one run, so it cannot be minified.",
    "cannot-judge": "The repro cannot judge (exit code 125), so there is nothing to minify: {detail}.",
    "raises": "The repro ends with an exception instead of a verdict, so there is nothing to minify: {detail}.",
    "no-repro": "The file does not define make_target and make_calls. Write it with `compile-lens repro`.",
}


@dataclass(frozen=True, slots=True)
class MinifyOptions:
    """``most_runs`` of the repro, at most ``limit_s`` seconds in all. ``torch``: try torch's own minifier first, up to its own limit."""

    limit_s: float = 900.0
    step_limit_s: float = 120.0
    most_runs: int = 400
    torch: bool = True
    torch_limit_s: float = 180.0
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MinifyProgress:
    """The progress: ``nodes`` of the graph and descriptions of its ``inputs``, if there is a graph; ``lines`` of the file."""

    phase: str
    runs: int = 0
    lines: int = 0
    nodes: int | None = None
    inputs: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.lines:
            return self.phase
        nodes = f"{self.nodes} nodes, {', '.join(self.inputs) or 'no inputs'}; " if self.nodes is not None else ""
        return f"{self.phase}: {nodes}{self.lines} lines after {self.runs} runs"


@dataclass(frozen=True, slots=True)
class Minified:
    """The smallest repro so far. ``text`` is '' if nothing smaller was found; ``verified``: it failed in the same way in a new process.

    ``sentence`` is the result; ``notes`` are what the user should know, including what torch's own minifier did.
    """

    text: str
    sentence: str
    verified: bool
    runs: int
    nodes: int | None = None
    inputs: tuple[str, ...] = ()
    saved: Path | None = None
    notes: tuple[str, ...] = ()


async def minify(
    host: Host,
    repro: Path,
    saved: Path,
    options: MinifyOptions = MinifyOptions(),
    on_progress: Callable[[MinifyProgress], None] | None = None,
    on_smaller: Callable[[Minified], None] | None = None,
) -> Minified:
    """Make ``repro`` smaller. ``saved`` is the file for inputs that the script cannot compute.

    ``on_smaller`` gets each smaller repro that fails, so that a canceled search keeps the last one. Raises HostError and FileProblem.
    """
    text = await asyncio.to_thread(read_utf8, repro)
    search = _MinificationEvents(text, on_progress, on_smaller)
    await host.start()
    with scratch_folder() as scratch:
        request = MinifyRequest(
            file=str(repro),
            cwd=str(repro.parent),
            argv=options.arguments,
            scratch=str(scratch / "search"),
            saved=str(scratch / "saved.pt"),
            step_limit_s=options.step_limit_s,
            limit_s=options.limit_s,
            most_runs=options.most_runs,
            torch_limit_s=options.torch_limit_s,
            torch=options.torch,
            differs=_differs(text),
        )
        limit = options.limit_s + options.torch_limit_s + 2 * options.step_limit_s
        end = await host.run(Job(str(repro), timeout_s=limit, search=request, access=Access.FULL), search.take)
        if search.uses_saved:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(copy_beside, scratch / "saved.pt", saved, LARGEST_VALUES)
    return search.result(end, saved if search.uses_saved else None)


def _differs(text: str) -> bool:
    """Whether the problem is one of accuracy, which torch's minifier must know."""
    with contextlib.suppress(HeaderError):
        return parse_header(text).criterion is Criterion.DIFFERS
    return False


class _MinificationEvents:
    """Collects the events of one search."""

    def __init__(
        self,
        text: str,
        on_progress: Callable[[MinifyProgress], None] | None,
        on_smaller: Callable[[Minified], None] | None,
    ) -> None:
        self._on_progress, self._on_smaller = on_progress, on_smaller
        self._phase = "starting"
        self._smallest: SmallerFound | None = None
        self._checked: SmallestChecked | None = None
        self._unfit: SearchUnfit | None = None
        self._notes: list[str] = []

    @property
    def uses_saved(self) -> bool:
        return self._smallest is not None and self._smallest.saved

    def take(self, frame: Frame) -> None:
        if isinstance(frame, PhaseBegan):
            self._phase = frame.phase
            self._tell(MinifyProgress(self._phase))
        elif isinstance(frame, SmallerFound):
            self._smallest = frame
            progress = MinifyProgress(self._phase, frame.runs, frame.text.count("\n"), frame.nodes, frame.inputs)
            self._tell(progress)
            if self._on_smaller is not None:
                self._on_smaller(self._result("", verified=False, saved=None))
        elif isinstance(frame, SmallestChecked):
            self._checked = frame
        elif isinstance(frame, TorchMinified):
            self._notes.append(_TORCH.get(frame.result, _TORCH["other"]).format(why=frame.why))
        elif isinstance(frame, SearchNote):
            self._notes.append(frame.text)
        elif isinstance(frame, SearchUnfit):
            self._unfit = frame
        elif isinstance(frame, AbilityLost):
            self._notes.append(f"Unavailable: {frame.what} ({frame.why}).")

    def _tell(self, progress: MinifyProgress) -> None:
        if self._on_progress is not None:
            self._on_progress(progress)

    def result(self, end: End, saved: Path | None) -> Minified:
        if self._unfit:
            unknown = f"The repro cannot be made smaller: {self._unfit.reason}."
            sentence = UNFIT.get(self._unfit.reason, unknown).format(detail=self._unfit.detail or "it prints nothing")
            return Minified("", sentence, False, 0, notes=tuple(self._notes))
        if self._checked is None:
            so_far = "this is the smallest repro so far" if self._smallest else "no smaller repro yet"
            return self._result(f"{_how_it_ended(end)}: {so_far}.", False, saved)
        if not self._smallest:
            return self._result("No smaller version has the problem.", self._checked.same, saved)
        return self._result(_how_it_fails(self._checked), self._checked.same, saved)

    def _result(self, sentence: str, verified: bool, saved: Path | None) -> Minified:
        found = self._smallest
        last = self._checked or found
        return Minified(
            _without_header_of_original(found.text) if found is not None else "",
            sentence,
            verified,
            last.runs if last is not None else 0,
            found.nodes if found is not None else None,
            found.inputs if found is not None else (),
            saved,
            tuple(self._notes),
        )


def _how_it_fails(checked: SmallestChecked) -> str:
    """What the smallest repro does in a new process, in one sentence."""
    if checked.same and checked.error:
        return f"It fails with the same error in a new process: {checked.error}"
    if checked.same:
        return "It fails in the same way in a new process."
    if checked.error and checked.error != checked.wanted:
        return f"It fails with another error in a new process (the problem may be flaky): {checked.error}"
    return "It does not fail in the same way in a new process: the problem may be flaky."


def _without_header_of_original(text: str) -> str:
    """``text`` without header fields that are about the original file."""
    lines = text.split("\n")
    if not lines[0].startswith(FIRST_LINE):
        return text
    kept, skipping = [], False
    for line in lines:
        if skipping and line.startswith("#   "):
            continue
        skipping = line.startswith(("# verified:", "# run:", "# bisect:", "# minify:"))
        if not skipping:
            kept.append(line)
    return "\n".join(kept)


def _how_it_ended(end: End) -> str:
    if end.kind is EndKind.CANCELLED:
        return "Canceled"
    if end.kind is EndKind.TIMEOUT:
        return "Stopped at the time limit (--timeout)"
    last = end.output.strip().rpartition("\n")[2].rstrip(".:")
    return f"The search ended early{f' ({last})' if last else ''}"


_TORCH = {
    "nothing": "torch's own minifier found nothing: {why}.",
    "invalid": "torch's own minifier did not help: {why}.",
    "other": "torch's own minifier did not help: {why}.",
    "taken": "Started from the result of torch's own minifier: {why}.",
}
