"""Keeps the compiler's stages of runs and opened traces: a private folder each, so that an editor finds them again when it restarts.

A folder holds ``about.json``, the trace of a run, and the stages that were written as files for an editor that can only open files.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from compile_lens.agent.runtime.regular_file import LARGEST_OF_RUNS, read_regular
from compile_lens.state.atomic_file import write_atomically

ABOUT, DOCUMENTS = "about.json", "documents"
# the folders of as many files are kept, those that were used last
KEPT = 24
RUN, OPENED, PREVIEW, VARIANT = "run", "trace", "preview", "variant"
# of a run that goes on, and when it cannot any more
UNFINISHED, LEFT_S = ".run-", 24 * 3600.0


@dataclass(frozen=True, slots=True)
class StageFacts:
    """Where stages come from. ``trace`` is what they are read from; ``texts`` are the files that it is about, as they were.

    ``kind`` is ``run``, ``trace``, ``preview`` of a ``gpu`` that need not be there, or ``variant`` for a comparison: how the file was
    compiled otherwise. ``file`` is what ran, or the trace that was opened. ``moved`` are folders that the trace names, and where they are.
    """

    kind: str
    file: str
    trace: str
    title: str
    texts: Mapping[str, str] = field(default_factory=dict)
    gpu: str = ""
    variant: str = ""
    moved: Mapping[str, str] = field(default_factory=dict)

    @property
    def how(self) -> str:
        """What tells it from a plain run of the same file."""
        return self.gpu or self.variant

    def at(self, trace: str) -> StageFacts:
        """The same, read from ``trace``."""
        return replace(self, trace=trace)


@dataclass(frozen=True, slots=True)
class StageFolders:
    """The folders below ``root``, by key."""

    root: Path

    def key(self, kind: str, file: str, how: str = "") -> str:
        """The name of the folder for ``file``. The next run of a file takes the place of the one before."""
        stem = "".join(c if c.isascii() and c.isalnum() else "_" for c in Path(file).stem)[:40]
        return f"{stem}-{hashlib.sha256(os.fsencode(f'{kind}:{how}:{file}')).hexdigest()[:10]}"

    def folder(self, key: str) -> Path:
        """The folder of a key."""
        return self.root / key

    def known(self, key: str) -> StageFacts | None:
        """What is kept under a key, None if nothing is, or what it is read from is gone."""
        if key in ("", "..") or key != Path(key).name:
            return None
        try:
            facts = _facts(json.loads(read_regular(self.root / key / ABOUT, LARGEST_OF_RUNS)))
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return facts if Path(facts.trace).exists() else None

    def take_trace(self, key: str, trace: Path) -> Path:
        """Move the trace of a run into the folder of a key; its place. Stages that were opened before are read from another file."""
        place = self.root / key / f"trace-{trace.stat().st_mtime_ns}.log"
        place.parent.mkdir(parents=True, exist_ok=True)
        trace.replace(place)
        return place

    def keep_copy(self, key: str, facts: StageFacts) -> None:
        """Store ``facts`` under a key, with a copy of their trace. Raises OSError."""
        place = self.root / key / f"trace-{Path(facts.trace).stat().st_mtime_ns}.log"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(facts.trace, place)
        self.keep(key, facts.at(str(place)))

    def keep(self, key: str, facts: StageFacts) -> None:
        """Keep ``facts`` under a key, in the place of what was there. Raises OSError."""
        shutil.rmtree(self.root / key / DOCUMENTS, ignore_errors=True)
        for older in self.root.joinpath(key).glob("trace-*.log"):
            if str(older) != facts.trace:
                older.unlink(missing_ok=True)
        write_atomically(self.root / key / ABOUT, json.dumps(asdict(facts)))
        self._limit()

    def write_document(self, key: str, name: str, text: str, renew: bool = False) -> Path:
        """Write a stage as a file, which is not to be edited; again only with ``renew``. Raises OSError."""
        folder = self.root / key / DOCUMENTS
        # names come from traces, which anybody may have written
        place = Path(os.path.normpath(folder / name))
        if folder not in place.parents:
            raise OSError(errno.EINVAL, "not a name of a document", name)
        if renew or not place.is_file():
            write_atomically(place, text)
            place.chmod(0o444)
        return place

    def place_of(self, path: str) -> tuple[str, str] | None:
        """The key and the name of a document that was written; None for any other file."""
        try:
            key, folder, *name = Path(path).relative_to(self.root).parts
        except ValueError:
            return None
        return (key, "/".join(name)) if folder == DOCUMENTS and name else None

    def _limit(self) -> None:
        """Remove the folders that were renewed longest ago, and what runs have left whose server was killed."""
        for left in self.root.glob(f"{UNFINISHED}*"):
            if time.time() - left.stat().st_mtime > LEFT_S:
                shutil.rmtree(left, ignore_errors=True)
        found = [(about.stat().st_mtime, about.parent) for about in self.root.glob(f"*/{ABOUT}")]
        for _, folder in sorted(found, reverse=True)[KEPT:]:
            shutil.rmtree(folder, ignore_errors=True)


def _facts(value: Any) -> StageFacts:
    """``value`` checked: a damaged file is one that is not there. Raises ValueError, TypeError or KeyError."""
    names = ("kind", "file", "trace", "title", "gpu", "variant")
    texts, moved = value["texts"], value["moved"]
    strings = [value[name] for name in names] + [*texts, *texts.values(), *moved, *moved.values()]
    if not all(isinstance(entry, str) for entry in strings):
        raise TypeError("a fact is no text")
    kind, file, trace, title, gpu, variant = (value[name] for name in names)
    return StageFacts(kind, file, trace, title, texts, gpu, variant, moved)
