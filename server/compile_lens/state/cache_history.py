"""Keeps the cache keys of the last run of each program, to explain cache misses of the next."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import asdict

from compile_lens.agent.runtime.regular_file import LARGEST_OF_RUNS, read_regular
from compile_lens.analysis.performance.cache_misses import cache_keys
from compile_lens.state.atomic_file import write_atomically
from compile_lens.trace.cache_key_text import Component
from compile_lens.trace.report import CompileReport
from compile_lens.workers.job import Job

# quick fixes run with texts of their own between two runs of a file
MAX_TEXTS = 4

Keys = dict[str, dict[str, Component]]


@dataclass(frozen=True, slots=True)
class CacheHistory:
    """One file for each way to run a file, in ``folder``, with the keys of the last few texts that it had."""

    folder: Path

    def exchange(self, job: Job, text: str, python: str, report: CompileReport) -> Keys:
        """The keys of the run before of the same ``text``; those of ``report`` are kept for the next."""
        now = cache_keys(report)
        if not now:
            return {}
        place = self._place(job, python)
        texts = _read(place)
        version = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        before = texts.pop(version, {})
        # a graph that AOTAutograd's cache knew has no key of Inductor's
        _write(place, {**dict(list(texts.items())[1 - MAX_TEXTS :]), version: {**before, **now}})
        return before

    def _place(self, job: Job, python: str) -> Path:
        how = [job.entry, str(job.plan), job.depth.value, str(job.compare), str(job.vary)]
        program = [job.file, python, *how, *job.argv]
        return self.folder / f"{hashlib.sha256(json.dumps(program).encode()).hexdigest()[:32]}.json"


def _read(place: Path) -> dict[str, Keys]:
    try:
        plain = json.loads(read_regular(place, LARGEST_OF_RUNS))
        return {
            text: {graph: {name: Component(**part) for name, part in key.items()} for graph, key in keys.items()}
            for text, keys in plain.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(place: Path, texts: Mapping[str, Keys]) -> None:
    plain = {
        text: {graph: {name: asdict(part) for name, part in key.items()} for graph, key in keys.items()}
        for text, keys in texts.items()
    }
    # a disk that is full, or read-only, costs the next run one hint
    with contextlib.suppress(OSError):
        write_atomically(place, json.dumps(plain))
