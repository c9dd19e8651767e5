"""Reads the agent's notes about the calls of compile regions, grouped by region."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compile_lens.trace.records import UNREADABLE, read_json
from compile_lens.trace.report import Artifact, CompileReport

PREFIX = "compile_lens_capture_"


@dataclass(frozen=True, slots=True)
class CapturedCall:
    """One call of a region. ``frames``: the compile ids that it caused; ``globals`` and ``attributes``: plain data before it."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    globals: Mapping[str, Any]
    attributes: Mapping[str, Any]
    unsupported: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CapturedRegion:
    """A region that was called. ``number`` is the report's; ``target``, ``options`` and values are the agent's descriptions.

    ``files`` is the source that all of it needs. ``uses_random``: calls used random numbers. ``runs_backward``: the program called
    backward on an output. ``patches`` are attributes of libraries that the program replaced, and ``left_out`` the names of those that
    no script can.
    """

    number: int
    target: Any
    options: Mapping[str, Any]
    config: tuple[str, ...]
    state: Mapping[str, Any]
    files: tuple[Any, ...]
    calls: tuple[CapturedCall, ...] = ()
    unsupported: tuple[str, ...] = ()
    uses_random: bool = False
    runs_backward: bool = False
    patches: tuple[Mapping[str, Any], ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(slots=True)
class _RegionNotes:
    note: dict[str, Any]
    files: list[Any]
    calls: list[dict[str, Any]] = field(default_factory=list)
    frames: list[list[str]] = field(default_factory=list)
    facts: set[str] = field(default_factory=set)


def read_capture(report: CompileReport) -> tuple[CapturedRegion, ...]:
    """The regions that were called, in the order of their first calls."""
    regions: dict[int, _RegionNotes] = {}
    for artifact in report.artifacts:
        text = artifact.payload.text() if _is_of_capture(artifact) else None
        if text is None:
            continue
        with contextlib.suppress(*UNREADABLE):  # a program wrote it itself
            _read(read_json(text), artifact, regions)
    closed: list[CapturedRegion] = []
    for number, region in regions.items():
        with contextlib.suppress(*UNREADABLE):
            closed.append(_closed(number, region))
    return tuple(closed)


def _read(note: dict[str, Any], artifact: Artifact, regions: dict[int, _RegionNotes]) -> None:
    if artifact.name == "compile_lens_frame":
        region = regions.get(note["region"])
        if region is not None and region.frames and artifact.compile_id:
            region.frames[-1].append(artifact.compile_id)
    elif artifact.name == f"{PREFIX}region":
        regions[note["region"]] = _RegionNotes(note, note["files"])
    elif note["region"] in regions:
        _take(regions[note["region"]], artifact.name, note)


def _is_of_capture(artifact: Artifact) -> bool:
    return artifact.name.startswith(PREFIX) or artifact.name == "compile_lens_frame"


def _take(region: _RegionNotes, name: str, note: dict[str, Any]) -> None:
    if name == f"{PREFIX}call":
        region.calls.append(note)
        region.frames.append([])
        if note["needed"] is not None:
            region.files = note["needed"]["files"]
    else:
        region.facts.add(note["fact"])


def _closed(number: int, region: _RegionNotes) -> CapturedRegion:
    calls = tuple(
        CapturedCall(
            tuple(call["args"]),
            call["kwargs"],
            call["globals"],
            call["attributes"],
            tuple(call["unsupported"]),
            tuple(dict.fromkeys(frames)),
        )
        for call, frames in zip(region.calls, region.frames, strict=True)
    )
    return CapturedRegion(
        number=number,
        target=region.note["target"],
        options=region.note["options"],
        config=tuple(region.note["config"]),
        state=region.note["state"],
        files=tuple(region.files),
        calls=calls,
        unsupported=tuple(region.note["unsupported"]),
        uses_random="random" in region.facts,
        runs_backward="backward" in region.facts,
        patches=tuple(region.note["patches"]),
        left_out=tuple(region.note["left_out"]),
    )


def calls_for(region: CapturedRegion, frames: tuple[str, ...], keep_earlier: bool) -> tuple[CapturedCall, ...]:
    """The calls that a repro needs: those that caused ``frames``, and with ``keep_earlier`` those that compiled before them.

    Without frames, the calls that compiled anything. A recompiled frame needs its earlier entries.
    """
    compiling = [call for call in region.calls if call.frames] or list(region.calls[:1])
    if not frames:
        return tuple(compiling)
    wanted = [call for call in compiling if set(frames) & set(call.frames)]
    if not wanted:
        # not compiled because of a limit, or called from compiled code: keep all calls
        return region.calls
    # the first occurrence is enough
    first = wanted[0]
    recompiled = any(frame.rpartition("/")[2] != "0" for frame in frames if frame in first.frames)
    if keep_earlier or recompiled:
        until = region.calls.index(wanted[-1] if keep_earlier else first)
        return tuple(call for call in region.calls[: until + 1] if call.frames) or (first,)
    return (first,)
