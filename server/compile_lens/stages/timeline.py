"""Where compile time went: torch's own timed events, nested, with the phase and the frame that each belongs to.

Events are ``chromium_event`` records (``ChromiumEventLogger`` in torch/_dynamo/utils.py, torch 2.6 to 2.13): a begin and an end of a
name, and moments. All of them say thread 0, also those of torch's threads, so overlapping events of one name are told apart by frame.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from compile_lens.trace.records import UNUSED, Record, TraceBytes, iterate

MICROSECOND = 1e-6
# of the arguments of an event: the cache key's parts, which are whole graphs
LONG = 2000


class Phase(str, Enum):
    """What the compiler does for a stretch of time; the values are what a user reads."""

    TRACING = "Dynamo: tracing"
    GUARDS = "Dynamo: guards"
    AUTOGRAD = "AOTAutograd"
    PASSES = "graph passes"
    LOWERING = "lowering"
    SCHEDULING = "scheduling and fusion"
    CODE_GENERATION = "code generation"
    KERNELS = "compiling and loading kernels"
    AUTOTUNING = "autotuning"
    CUDA_GRAPHS = "CUDA graphs"
    CACHES = "cache lookups"
    COLLECTION = "garbage collection"
    OTHER = "other"


# names of events, as torch 2.6 to 2.13 write them; an event that is not here belongs to the phase of the one around it
_PHASES: tuple[tuple[str, Phase], ...] = (
    ("bytecode_tracing", Phase.TRACING),
    ("insert_deferred_runtime_asserts", Phase.TRACING),
    ("build_guards", Phase.GUARDS),
    ("create_aot_dispatcher_function", Phase.AUTOGRAD),
    ("aot_*", Phase.AUTOGRAD),
    ("min_cut_rematerialization_partition", Phase.AUTOGRAD),
    ("_recursive_*_passes", Phase.PASSES),
    ("pass.*", Phase.PASSES),
    ("additional_fake_tensor_prop", Phase.PASSES),
    ("GraphLowering.run", Phase.LOWERING),
    ("Scheduler.codegen", Phase.CODE_GENERATION),
    ("Scheduler.*", Phase.SCHEDULING),
    ("code_gen", Phase.CODE_GENERATION),
    ("GraphLowering.codegen", Phase.CODE_GENERATION),
    ("GraphLowering.compile_to_*", Phase.CODE_GENERATION),
    ("*WrapperCodegen.generate", Phase.CODE_GENERATION),
    ("compile_file", Phase.KERNELS),
    ("async_compile.*", Phase.KERNELS),
    ("PyCodeCache.*", Phase.KERNELS),
    ("TritonBundler.*", Phase.KERNELS),
    ("StaticAutotunerFuture.*", Phase.KERNELS),
    ("reload_kernel_in_parent", Phase.KERNELS),
    ("CachingAutotuner.*", Phase.AUTOTUNING),
    ("*_template_*", Phase.AUTOTUNING),
    ("benchmark_*", Phase.AUTOTUNING),
    ("generate_kernel_code_from_nodes", Phase.AUTOTUNING),
    ("cudagraph*", Phase.CUDA_GRAPHS),
    ("CUDAGraph*", Phase.CUDA_GRAPHS),
    ("inductor_codecache_torch_key", Phase.CACHES),
    ("CacheBase.*", Phase.CACHES),
    ("FxGraphCache.*", Phase.CACHES),
    ("AOTAutogradCache.*", Phase.CACHES),
    ("pgo.*", Phase.CACHES),
    ("gc", Phase.COLLECTION),
)
_CACHES = {"fx_graph_cache": "FX graph cache", "autograd_cache": "AOTAutograd cache"}


@dataclass(frozen=True, slots=True)
class TimedSpan:
    """One event. ``start`` and ``duration`` are seconds, from the first event of the trace. ``own`` is its time without the events in it.

    ``depth`` counts from 0 for an event that no other contains; ``lane`` is 0 but for events that overlap others, as those of threads do.
    ``is_cut``: the trace has no end of it.
    """

    name: str
    compile_id: str
    start: float
    duration: float
    arguments: Mapping[str, Any]
    is_cut: bool = False
    lane: int = 0
    depth: int = 0
    own: float = 0.0
    phase: Phase = Phase.OTHER

    @property
    def end(self) -> float:
        return self.start + self.duration


@dataclass(frozen=True, slots=True)
class CacheUse:
    """A lookup in one of torch's caches. ``result`` is hit, miss or bypass, ``reason`` why it was bypassed; ``saved`` are seconds."""

    cache: str
    result: str
    compile_id: str
    at: float
    reason: str = ""
    saved: float = 0.0


@dataclass(frozen=True, slots=True)
class TimedFrame:
    """A frame that was compiled, by its compile id. ``function`` is '' if the trace does not tell it."""

    compile_id: str
    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """All events of a trace, by their start."""

    spans: tuple[TimedSpan, ...]
    caches: tuple[CacheUse, ...]
    frames: Mapping[str, TimedFrame]

    @property
    def total(self) -> float:
        """Seconds of compiling: what is in no other event, threads that work beside left out."""
        return sum(span.duration for span in self.spans if span.depth == 0 and span.lane == 0)

    def by_frame(self) -> Mapping[str, Mapping[Phase, float]]:
        """Seconds of each phase by compile id, in order. They add up to the total."""
        found: dict[str, dict[Phase, float]] = defaultdict(lambda: defaultdict(float))
        for span in self.spans:
            if span.lane == 0:
                found[span.compile_id][span.phase] += span.own
        return found

    def cache_counts(self) -> Mapping[str, Mapping[str, int]]:
        """How often each cache had each result."""
        counts: dict[str, dict[str, int]] = {}
        for use in self.caches:
            of_one = counts.setdefault(use.cache, {})
            of_one[use.result] = of_one.get(use.result, 0) + 1
        return counts


@dataclass(slots=True)
class _Begun:
    name: str
    compile_id: str
    at: float
    arguments: dict[str, Any]


def read_timeline(trace: TraceBytes) -> Timeline:
    """The events of a trace; a trace without any has an empty timeline."""
    return timeline_of(record for record in iterate(trace, UNUSED - {b"chromium_event"}) if record is not None)


def timeline_of(records: Iterable[Record]) -> Timeline:
    """The same from records."""
    frames: dict[str, TimedFrame] = {}
    begun: list[_Begun] = []
    ended: list[TimedSpan] = []
    moments: list[tuple[str, str, float, dict[str, Any]]] = []
    last = 0.0
    for record in records:
        if record.kind == "compilation_metrics" and record.compile_id and isinstance(record.fields, dict):
            _note_frame(frames, record.compile_id, record.fields)
        event = read_event(record) if record.kind == "chromium_event" else None
        if event is None:
            continue
        name, kind, at, arguments = event
        compile_id = frame_of_event(arguments, record)
        last = max(last, at)
        if kind == "B":
            begun.append(_Begun(name, compile_id, at, arguments))
        elif kind == "E":
            if name == "dynamo" and compile_id:
                _note_frame(frames, compile_id, arguments)
            start = _take(begun, name, compile_id)
            if start is not None:
                ended.append(_span(start, at, arguments))
        elif kind == "i":
            moments.append((name, compile_id, at, arguments))
    ended += [replace(_span(start, last, {}), is_cut=True) for start in begun]
    first = min([span.start for span in ended] + [at for _, _, at, _ in moments], default=0.0)
    spans = _laid_out([replace(span, start=span.start - first) for span in ended])
    return Timeline(spans, tuple(_cache_uses(moments, first)), frames)


def read_event(record: Record) -> tuple[str, str, float, dict[str, Any]] | None:
    """Name, kind, time in seconds and arguments of an event; None if it is damaged."""
    text = record.payload.text() if record.payload is not None else None
    try:
        given = json.loads(text or "")
        arguments = given.get("args")
        return str(given["name"]), str(given["ph"]), float(given["ts"]) * MICROSECOND, dict(arguments or {})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def frame_of_event(arguments: Mapping[str, Any], record: Record) -> str:
    """The frame of an event. What runs outside of a compilation, as autotuning does at the first call, names its frame itself."""
    named = str(arguments.get("compile_id") or "")
    return named if named and named != "None" else record.compile_id or ""


def _take(begun: list[_Begun], name: str, compile_id: str) -> _Begun | None:
    """The event that ends, taken from those that began: the last of this name, of this frame if there is one."""
    of_name = [one for one in begun if one.name == name]
    if not of_name:
        return None
    found = next((one for one in reversed(of_name) if one.compile_id == compile_id), of_name[-1])
    begun.remove(found)
    return found


def _span(start: _Begun, end: float, more: Mapping[str, Any]) -> TimedSpan:
    arguments = {key: value for key, value in {**start.arguments, **more}.items() if len(str(value)) <= LONG}
    return TimedSpan(start.name, start.compile_id, start.at, max(end - start.at, 0.0), arguments)


def _note_frame(frames: dict[str, TimedFrame], compile_id: str, fields: Mapping[str, Any]) -> None:
    if fields.get("co_name"):
        line = fields.get("co_firstlineno")
        frames[compile_id] = TimedFrame(
            compile_id,
            str(fields["co_name"]),
            str(fields.get("co_filename") or ""),
            line if isinstance(line, int) else 0,
        )


def _cache_uses(moments: Iterable[tuple[str, str, float, dict[str, Any]]], first: float) -> Iterator[CacheUse]:
    for name, compile_id, at, arguments in moments:
        cache, _, result = name.rpartition("_")
        if cache in _CACHES:
            saved = arguments.get("time_saved_ns")
            yield CacheUse(
                _CACHES[cache],
                result,
                compile_id,
                at - first,
                str(arguments.get("cache_bypass_reason") or ""),
                saved * 1e-9 if isinstance(saved, int) else 0.0,
            )


def _laid_out(spans: list[TimedSpan]) -> tuple[TimedSpan, ...]:
    """``spans`` by their start, with depth, lane, phase and own time. Threads that compile for the others name no frame."""
    framed = _nested([span for span in spans if span.compile_id], 0)
    lanes = 1 + max((span.lane for span in framed), default=0)
    beside = _nested([span for span in spans if not span.compile_id], lanes)
    return tuple(sorted((*framed, *beside), key=lambda span: (span.start, span.lane, span.depth)))


def _nested(spans: list[TimedSpan], first_lane: int) -> tuple[TimedSpan, ...]:
    """The same for the events of one kind. An event that only overlaps another goes to a lane of its own."""
    ordered = sorted(spans, key=lambda span: (span.start, -span.duration))
    lanes: list[list[int]] = []
    inner = [0.0] * len(ordered)
    for at, span in enumerate(ordered):
        for around in lanes:
            while around and ordered[around[-1]].end <= span.start:
                around.pop()
            if not around or span.end <= ordered[around[-1]].end:
                break
        else:
            around = []
            lanes.append(around)
        lane = next(number for number, one in enumerate(lanes) if one is around)
        parent = ordered[around[-1]] if around else None
        if around:
            inner[around[-1]] += span.duration
        phase = _phase(span.name) or (parent.phase if parent else Phase.OTHER)
        ordered[at] = replace(span, lane=first_lane + lane, depth=len(around), phase=phase)
        around.append(at)
    return tuple(replace(span, own=max(span.duration - inner[at], 0.0)) for at, span in enumerate(ordered))


@lru_cache(maxsize=1024)
def _phase(name: str) -> Phase | None:
    return next((phase for pattern, phase in _PHASES if fnmatchcase(name, pattern)), None)
