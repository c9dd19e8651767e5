"""Compile time as a short table for a terminal: a row for each frame, then the phases and the caches of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from rich.text import Text

from compile_lens.stages.timeline import Phase, Timeline

# of a frame; the rest is in the file for Perfetto
MAX_PHASES = 3
MAX_FRAMES = 12


def to_text(timeline: Timeline) -> Text:
    """The frames that took longest, each with what most of its time went to, then all phases and caches."""
    text = Text(f"Compile time: {timeline.total:.2f} s\n", style="bold")
    frames = sorted(timeline.by_frame().items(), key=lambda row: -sum(row[1].values()))
    for compile_id, phases in frames[:MAX_FRAMES]:
        shown = ", ".join(f"{phase.value} {seconds:.2f} s" for phase, seconds in _longest(phases)[:MAX_PHASES])
        text.append(f"  {sum(phases.values()):>8.2f} s  {name_of(timeline, compile_id)}")
        text.append(f"  {shown}\n", style="dim")
    if len(frames) > MAX_FRAMES:
        text.append(f"  … and {len(frames) - MAX_FRAMES} more\n", style="dim")
    text.append("\nBy phase\n", style="bold")
    for phase, seconds in _longest(_phases(timeline)):
        text.append(f"  {seconds:>8.2f} s  {seconds / (timeline.total or 1):>4.0%}  {phase.value}\n")
    for line in cache_lines(timeline):
        text.append(f"\n{line}")
    text.rstrip()
    return text


def cache_lines(timeline: Timeline) -> list[str]:
    """``FX graph cache: 2 hits, 1 miss``, a line for each cache that was asked."""
    return [
        f"{cache}: {', '.join(_lookups(result, count) for result, count in counts.items())}"
        for cache, counts in timeline.cache_counts().items()
    ]


def name_of(timeline: Timeline, compile_id: str) -> str:
    """``forward [0/0]``."""
    frame = timeline.frames.get(compile_id)
    return f"{frame.function if frame is not None and frame.function else 'frame'} [{compile_id}]"


def _phases(timeline: Timeline) -> dict[Phase, float]:
    found: dict[Phase, float] = defaultdict(float)
    for phases in timeline.by_frame().values():
        for phase, seconds in phases.items():
            found[phase] += seconds
    return found


def _longest(phases: Mapping[Phase, float]) -> list[tuple[Phase, float]]:
    return sorted(((phase, seconds) for phase, seconds in phases.items() if seconds >= 0.0005), key=lambda row: -row[1])


def _lookups(result: str, count: int) -> str:
    return f"{count} {result}" if count == 1 else f"{count} {result}{'es' if result.endswith('s') else 's'}"
