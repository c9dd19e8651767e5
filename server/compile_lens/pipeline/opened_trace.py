"""Opens a trace of any form: the outcomes of its ranks, from what was kept if it was opened before."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from compile_lens.analysis.outcome import Outcome
from compile_lens.analysis.ranks import merge_ranks, rank_names
from compile_lens.state.opened_traces import OpenedTraces
from compile_lens.trace.files import TraceError, unpacked
from compile_lens.workers.caches import cache_root

PART = "traces"


class TraceOptions(Struct, frozen=True):
    """How a trace is opened. ``maps`` are folders of the recording machine and what they are here; files are looked for in ``folders``.

    ``compiled``: outcomes have what became of each function, too.
    """

    maps: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    just_my_code: bool = True
    compiled: bool = False


class OpenedTrace(Struct, frozen=True):
    """The outcome of each rank, and a sentence for each file that cannot be read. ``is_new``: it was not opened before."""

    name: str
    outcomes: tuple[Outcome, ...]
    problems: tuple[str, ...] = ()
    is_new: bool = True

    def of_ranks(self, ranks: Sequence[int]) -> OpenedTrace:
        """The outcomes of ``ranks``; all, if there are none. Raises TraceError for a rank that is not there."""
        if not ranks:
            return self
        known = {row.rank for outcome in self.outcomes for row in outcome.ranks}
        if missing := sorted(set(ranks) - known):
            there = rank_names(sorted(known)) if known else "no rank"
            raise TraceError(f"{self.name} has {there}: no rank {', '.join(map(str, missing))}.")
        chosen = (outcome for outcome in self.outcomes if any(row.rank in ranks for row in outcome.ranks))
        return replace(self, outcomes=tuple(chosen))

    def merged(self) -> tuple[Outcome, ...]:
        """The ranks of one job as one outcome; what is not of one job, as it is."""
        rows = [row.rank for outcome in self.outcomes for row in outcome.ranks]
        if len(self.outcomes) < 2 or len(set(rows)) < len(self.outcomes):
            return self.outcomes
        return (merge_ranks(self.outcomes, self.name),)


def open_trace(path: Path, options: TraceOptions) -> OpenedTrace:
    """What the trace at ``path`` tells: a file, a folder, an archive, or the output folder of tlparse. Raises TraceError."""
    kept = OpenedTraces(cache_root(os.environ) / PART)
    key = (options.maps, options.folders, options.just_my_code, options.compiled)
    known = kept.recall(path, key)
    if known is not None:
        outcomes, problems = known
        return OpenedTrace(str(path), outcomes, problems, is_new=False)
    # what reads a trace takes longer to load than what was kept
    from compile_lens.pipeline.loaded_trace import read_recorded, with_compiled, with_divergence, with_note

    # a program often lies beside its trace
    beside = str(path if path.is_dir() else path.parent)
    recorded, unread = [], []
    with unpacked(path) as files:
        for file in files:
            try:
                found = read_recorded(
                    file.path, options.maps, options.just_my_code, file.name, (*options.folders, beside)
                )
                recorded.append(with_note(with_compiled(found) if options.compiled else found, file.note))
            except TraceError as problem:  # the other ranks still have findings
                unread.append(str(problem))
    if not recorded:
        raise TraceError(" ".join(unread))
    opened = OpenedTrace(str(path), tuple(with_divergence(recorded)), tuple(unread))
    looked = dict.fromkeys(name for one in recorded for name in one.files.looked)
    kept.remember(path, key, looked, (opened.outcomes, opened.problems))
    return opened
