"""A minification as the product does it: a process of the user's interpreter searches, and tells each smaller repro when it has it."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compile_lens.repro.contract import FIRST_LINE, Criterion, HeaderError, parse_header
from compile_lens.repro.scratch import scratch_folder
from compile_lens.workers.host import Host
from compile_lens.workers.job import End, EndKind, Job
from compile_lens.workers.level import Level
from compile_lens.workers.wire import AgentEvent, Frame

UNFIT = {
    "not-bad": "The repro does not fail as it is, so there is nothing to make smaller.",
    "no-repro": "The file has no functions make_target and make_calls; `compile-lens repro` writes files that have.",
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
class Progress:
    """How far it is: ``nodes`` of the graph and ``inputs`` in words, if there is a graph; ``lines`` of the file."""

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
    """The smallest repro so far. ``text`` is '' when nothing smaller was found; ``verified``: it failed in the same way in a new process.

    ``sentence`` says what came out; ``notes`` what the user should know, among it what torch's own minifier did.
    """

    text: str
    sentence: str
    verified: bool
    runs: int
    nodes: int | None = None
    inputs: tuple[str, ...] = ()
    saved: Path | None = None
    notes: tuple[str, ...] = ()
    history: tuple[Progress, ...] = ()


async def minify(
    host: Host,
    repro: Path,
    saved: Path,
    options: MinifyOptions = MinifyOptions(),
    on_progress: Callable[[Progress], None] | None = None,
    on_smaller: Callable[[Minified], None] | None = None,
) -> Minified:
    """Make ``repro`` smaller. ``saved`` is where inputs go that no formula can make.

    ``on_smaller`` gets each repro that is smaller and works: who cancels the awaiting task keeps the last. Raises HostError.
    """
    text = await asyncio.to_thread(repro.read_text, encoding="utf-8")
    search = _Search(text, on_progress, on_smaller)
    await host.start()
    with scratch_folder() as scratch:
        task = {
            "tool": "minify",
            "file": str(repro),
            "cwd": str(repro.parent),
            "argv": list(options.arguments),
            "scratch": str(scratch / "search"),
            "saved": str(scratch / "saved.pt"),
            "step_limit_s": options.step_limit_s,
            "limit_s": options.limit_s,
            "most_runs": options.most_runs,
            "torch": options.torch,
            "torch_limit_s": options.torch_limit_s,
            "differs": _differs(text),
        }
        limit = options.limit_s + options.torch_limit_s + 2 * options.step_limit_s
        end = await host.run(Job(str(repro), timeout_s=limit, task=task, level=Level.FULL), search.take)
        if search.uses_saved:
            with contextlib.suppress(OSError):
                shutil.copyfile(scratch / "saved.pt", saved)
    return search.result(end, saved if search.uses_saved else None)


def _differs(text: str) -> bool:
    """Whether the problem is one of accuracy: torch's minifier must be told."""
    with contextlib.suppress(HeaderError):
        return parse_header(text).criterion is Criterion.DIFFERS
    return False


class _Search:
    """What the events say."""

    def __init__(
        self, text: str, on_progress: Callable[[Progress], None] | None, on_smaller: Callable[[Minified], None] | None
    ) -> None:
        self._original = text
        self._on_progress, self._on_smaller = on_progress, on_smaller
        self._phase = "starting"
        self._smallest: dict[str, Any] = {}
        self._checked: dict[str, Any] = {}
        self._unfit = ""
        self._notes: list[str] = []
        self._history: list[Progress] = []

    @property
    def uses_saved(self) -> bool:
        return bool(self._smallest.get("saved"))

    def take(self, frame: Frame) -> None:
        if not isinstance(frame, AgentEvent):
            return
        fields = frame.fields
        if frame.name == "phase":
            self._phase = fields["phase"]
            self._tell(Progress(self._phase))
        elif frame.name == "smaller":
            self._smallest = fields
            progress = Progress(
                self._phase, fields["runs"], fields["text"].count("\n"), fields["nodes"], tuple(fields["inputs"])
            )
            self._history.append(progress)
            self._tell(progress)
            if self._on_smaller is not None:
                self._on_smaller(self._made("", verified=False, saved=None))
        elif frame.name == "checked":
            self._checked = fields
        elif frame.name == "torch":
            self._notes.append(_TORCH[fields["result"]].format(why=fields["why"]))
        elif frame.name == "note":
            self._notes.append(fields["text"])
        elif frame.name == "degraded":
            self._notes.append(f"Unavailable: {fields['what']} ({fields['why']}).")
        elif frame.name == "unfit":
            self._unfit = fields["reason"]

    def _tell(self, progress: Progress) -> None:
        if self._on_progress is not None:
            self._on_progress(progress)

    def result(self, end: End, saved: Path | None) -> Minified:
        if self._unfit:
            return Minified("", UNFIT[self._unfit], False, 0, notes=tuple(self._notes))
        verified = bool(self._checked.get("same"))
        if not self._checked:
            so_far = "this is the smallest so far" if self._smallest else "there is nothing smaller yet"
            return self._made(f"{_how_it_ended(end)}: {so_far}.", False, saved)
        if not self._smallest:
            return self._made("Nothing smaller has the problem.", verified, saved)
        if verified:
            return self._made("It fails in the same way in a new process.", True, saved)
        return self._made(
            "In a new process it does not fail as the repro did: the problem may need luck.", False, saved
        )

    def _made(self, sentence: str, verified: bool, saved: Path | None) -> Minified:
        found = self._smallest
        return Minified(
            self._text() if found else "",
            sentence,
            verified,
            int(self._checked.get("runs", found.get("runs", 0))),
            found.get("nodes"),
            tuple(found.get("inputs", ())),
            saved,
            tuple(self._notes),
            tuple(self._history),
        )

    def _text(self) -> str:
        """The smallest, without what the header says of the file that it was made from."""
        lines = str(self._smallest["text"]).split("\n")
        if not lines[0].startswith(FIRST_LINE):
            return "\n".join(lines)
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
        return "It was cancelled"
    if end.kind is EndKind.TIMEOUT:
        return "The time was over"
    last = end.output.strip().rpartition("\n")[2].rstrip(".:")
    return f"The search ended early{f' ({last})' if last else ''}"


_TORCH = {
    "nothing": "torch's own minifier found nothing: {why}.",
    "invalid": "torch's own minifier is of no use here: {why}.",
    "other": "torch's own minifier is of no use here: {why}.",
    "taken": "torch's own minifier gave the start: {why}.",
}
