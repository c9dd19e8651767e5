"""Plays back runs that ``tests/data/record.py`` recorded on another machine: the product analyses them as if they ran now."""

from __future__ import annotations

import asyncio
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from compile_lens.agent.runtime.protocol import Hello, ProgramDone, ProgramRaised, RunEnded
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.analyze import NO_FILTERS, analyze
from compile_lens.workers.access import Access
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, End, EndKind, Job
from compile_lens.workers.wire import Frame, FrameDecoder, TraceRecord
from fixture_notation import depth_of, is_compared

RECORDINGS = {
    "fixtures": "h200-torch2.11",
    "gpu-programs": "h200-torch2.11",
    "gpu-workloads": "h100-torch2.11",
}
DATA = Path(__file__).parent / "data"
# where record.py runs the programs, and keeps the agent
JOB = "/cluster/job"
AGENT = "/cluster/agent"
NOTE = b'"compile_lens_'


class ReplayHost(Host):
    """A host whose agent is a recording."""

    def __init__(self, frames: list[Frame]) -> None:
        super().__init__("")
        self.agent_folder = AGENT
        self._recorded = frames

    async def start(self) -> Hello:
        (self._hello,) = [frame for frame in self._recorded if isinstance(frame, Hello)]
        return self._hello

    async def run(self, job: Job, on_frame: Callable[[Frame], None]) -> End:
        came_back = False
        for frame in self._recorded:
            if isinstance(frame, RunEnded):
                kind = EndKind(frame.kind)
                kind = EndKind.EXITED if kind is EndKind.FINISHED and not came_back else kind
                return End(kind, frame.code, frame.crash_stack)
            came_back = came_back or isinstance(frame, (ProgramDone, ProgramRaised))
            on_frame(frame)
        raise AssertionError("the recording has no end")


@cache
def recording(archive: str) -> dict[str, bytes]:
    """The files of an archive, by name."""
    with tarfile.open(DATA / RECORDINGS[archive] / f"{archive}.tar.xz") as opened:
        files = {member.name: opened.extractfile(member) for member in opened.getmembers()}
        return {name: file.read() for name, file in files.items() if file is not None}


def program(archive: str, name: str) -> str:
    """The text of a recorded program."""
    return recording(archive)[f"{name}.py"].decode()


def frames_of(wire: bytes) -> list[Frame]:
    """What an agent said."""
    return list(FrameDecoder().feed(wire))


def play(host: ReplayHost, file: str, text: str, depth: Depth = Depth.DYNAMO, filters: Filters = NO_FILTERS) -> Outcome:
    """What the product makes of a recorded run of ``file``, whose text was ``text``."""
    return asyncio.run(
        analyze(host, Job(file, depth, text, compare=is_compared(text), access=Access.FULL), filters=filters)
    )


def replay(archive: str, name: str, with_notes: bool = True, filters: Filters = NO_FILTERS) -> Outcome:
    """What the product makes of a run in an archive. Without notes: of what torch itself wrote of it."""
    text = program(archive, name)
    frames = frames_of(recording(archive)[f"{name}.wire"])
    if not with_notes:
        frames = [f for f in frames if not (isinstance(f, TraceRecord) and NOTE in f.data.partition(b"\n")[0])]
    depth = Depth.INDUCTOR if archive == "gpu-programs" else Depth(depth_of(text))
    return play(ReplayHost(frames), f"{JOB}/{name}.py", text, depth, filters)
