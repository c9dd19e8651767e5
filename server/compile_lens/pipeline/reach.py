"""Says which files a run may speak of, and takes out of an outcome what lies elsewhere.

A program can write records of the trace and events itself. None of them makes us read or show a file that has no part in the run: a
place must be in the file's folder, its workspace, or where the interpreter imports from.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from compile_lens.agent.runtime.protocol import Hello
from compile_lens.analysis.dimensions import DynamicParameter
from compile_lens.analysis.finding import CallSite, Finding, Place, RegionSummary, Related
from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.documents import file_key
from compile_lens.documents.source_file import is_name_of_source
from compile_lens.workers.access import Access
from compile_lens.workers.job import Job

# the protocol's positions have 31 bits
LAST = (1 << 31) - 2
Placed = TypeVar("Placed", RegionSummary, DynamicParameter, Related, CallSite)


@dataclass(frozen=True, slots=True)
class Reach:
    """``folders`` are absolute; their links are followed, as are those of each file. None: the run may do everything anyway."""

    main_file: str
    folders: tuple[str, ...] | None

    @staticmethod
    def of(main_file: str, folders: Iterable[str]) -> Reach:
        """Whatever is in the folder of ``main_file`` or in ``folders``, of which '' is none."""
        around = (os.path.dirname(main_file), *filter(None, folders))  # noqa: PTH120 - text until it is compared
        return Reach(main_file, tuple(dict.fromkeys(file_key(folder).rstrip(os.sep) + os.sep for folder in around)))

    @staticmethod
    def of_run(job: Job, hello: Hello | None, agent_folder: str) -> Reach:
        """What a run of ``job`` may speak of, in an interpreter that said ``hello``."""
        if job.access is Access.FULL:
            return Reach(job.file, None)
        imported_from = (*hello.library_roots, *hello.import_paths) if hello is not None else ()
        return Reach.of(job.file, (job.workspace, agent_folder, *imported_from))

    def holds(self, file: str) -> bool:
        """Whether ``file`` may be read and shown. What is no file (``<string>``) has nothing to read, and is held."""
        if file == self.main_file or not file or file.startswith("<") or self.folders is None:
            return True
        if "\0" in file or not os.path.isabs(file):  # noqa: PTH117 - text of a program
            return False
        # a link in the workspace may lead to anything of the user's in a folder around it
        real = file_key(file)
        return is_name_of_source(file) and is_name_of_source(real) and real.startswith(self.folders)

    def confine(self, outcome: Outcome) -> Outcome:
        """``outcome`` without regions, functions and calls elsewhere; its findings have been through ``confine_finding``."""
        return replace(
            outcome,
            regions=tuple(self._within(outcome.regions)),
            functions=tuple(self._within(outcome.functions)),
            dynamic=tuple(self._within(outcome.dynamic)),
            recorded=tuple(call for call in outcome.recorded if self.holds(call.file)),
        )

    def confine_finding(self, finding: Finding) -> Finding:
        """``finding`` without places elsewhere: its own becomes the beginning of the program."""
        here = self._is_shown(finding.place)
        return replace(
            finding,
            place=_possible(finding.place) if here else Place(self.main_file, 1, 1, 1, 2),
            related=tuple(self._within(finding.related)),
            call_path=tuple(self._within(finding.call_path)),
        )

    def _within(self, placed: Iterable[Placed]) -> Iterable[Placed]:
        return (replace(one, place=_possible(one.place)) for one in placed if self._is_shown(one.place))

    def _is_shown(self, place: Place) -> bool:
        # a place in no file cannot be shown in an editor
        return self.holds(place.file) and os.path.isabs(place.file)  # noqa: PTH117


def _possible(place: Place) -> Place:
    line, column = _number(place.line), _number(place.column)
    end_line = max(line, _number(place.end_line))
    end_column = _number(place.end_column)
    return Place(place.file, line, column, end_line, max(column, end_column) if end_line == line else end_column)


def _number(value: int) -> int:
    return min(max(value, 1), LAST)
