"""Opens the compiler's stages that are in a trace, with the files of this machine that they are about."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from compile_lens.documents.source_file import source_if_named
from compile_lens.pipeline.local_files import NO_FILES, LocalFile, LocalFiles, Maps, find_local_files
from compile_lens.pipeline.stage_set import StageSet
from compile_lens.stages.debug_folder import is_debug_folder, read_debug_folder
from compile_lens.stages.opened import open_stages, report_of
from compile_lens.state.stage_folders import OPENED, StageFacts, StageFolders
from compile_lens.trace.files import unpacked
from compile_lens.trace.records import opened
from compile_lens.trace.relocation import named_files
from compile_lens.trace.report import CompileReport

Read = Callable[[str], str | None]


def open_stage_set(
    key: str, facts: StageFacts, maps: Maps, folders: Sequence[str], read: Read = source_if_named
) -> StageSet:
    """The stages of ``facts``. Their kernels are read later. ``read`` reads a file of this machine. Raises TraceError."""
    trace = Path(facts.trace)
    if trace.is_dir():
        return StageSet(key, facts, read_debug_folder(trace, _lines(facts, NO_FILES, read)), NO_FILES.here)
    content = opened(trace)
    report = report_of(content)
    files = NO_FILES
    if facts.kind == OPENED:
        files = find_local_files(report, maps, (*folders, str(trace.parent), str(Path(facts.file).parent)))
    elif facts.moved:
        files = _moved_files(report, facts.moved)
    stages = open_stages(report, _lines(facts, files, read), content)
    rank = f" (rank {report.rank})" if report.rank is not None and facts.kind == OPENED else ""
    return StageSet(key, replace(facts, title=f"{facts.title.partition(' (rank')[0]}{rank}"), stages, files.here)


def debug_folder_at(path: Path) -> StageFacts | None:
    """What to open for a folder of ``TORCH_COMPILE_DEBUG``; None if ``path`` is none."""
    is_one = path.is_dir() and is_debug_folder(path)
    return StageFacts(OPENED, str(path), str(path), path.name) if is_one else None


def traces_at(path: Path, folders: StageFolders) -> Iterator[StageFacts]:
    """What to open for the trace at ``path``: each of its files. One of an archive is copied to where it stays. Raises TraceError."""
    with unpacked(path) as files:
        for file in files:
            # the name is a path, or an archive's with the name inside
            place = file.path
            if str(place) != file.name:
                place = folders.folder(folders.key(OPENED, file.name)) / "trace-0.log"
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.path, place)
            yield StageFacts(OPENED, file.name, str(place), path.name)


def _moved_files(report: CompileReport, moved: Mapping[str, str]) -> LocalFiles:
    """The files below folders that are elsewhere."""
    found = {}
    for file in named_files(report):
        for there, here in moved.items():
            if Path(file).is_relative_to(there):
                found[file] = LocalFile(file, str(Path(here, Path(file).relative_to(there))), {})
    return LocalFiles(found)


def _lines(facts: StageFacts, files: LocalFiles, read: Read) -> Callable[[str], Sequence[str] | None]:
    """The lines of a recorded file, if it is here as it was."""

    def lines_of(recorded: str) -> Sequence[str] | None:
        local = files.files.get(recorded)
        if local is not None and local.has_changed:
            return None
        path = local.path if local is not None else recorded
        text = facts.texts.get(path) or read(path)
        return text.split("\n") if text is not None else None

    return lines_of
