"""The entry that repeats the calls of an earlier run, or of a loaded trace, with random values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from compile_lens.agent.runtime.entry_plans import SynthesizedCalls
from compile_lens.entries.entry import RECORDED, Entry, EntryKind
from compile_lens.entries.targets import Target, find_targets, target_named
from compile_lens.syntax.tree import SourceTree


@dataclass(frozen=True, slots=True)
class Recording:
    """The inputs of functions of a file: names, and expressions by parameter. ``origin`` completes "inputs of …"."""

    origin: str
    calls: tuple[tuple[str, Mapping[str, str]], ...]


def recorded_entry(tree: SourceTree, recording: Recording) -> Entry | None:
    """The entry that repeats the recorded calls of functions that the file still has."""
    targets = find_targets(tree)
    plans = []
    lines = []
    for name, inputs in recording.calls:
        target = _target(name, targets, tree)
        if target is not None:
            plans.append(replace(target.plan, inputs=dict(inputs)))
            lines.append(target.line)
    if not plans:
        return None
    names = ", ".join(f"`{plan.name}`" for plan in plans[:3])
    origin = f"inputs of {recording.origin}, for {names}"
    return Entry(EntryKind.RECORDED, RECORDED, origin, lines[0], SynthesizedCalls(tuple(plans)))


def _target(name: str, targets: tuple[Target, ...], tree: SourceTree) -> Target | None:
    """The region that compiles ``name`` or its class; in a file without regions, the function as if it were compiled."""
    owner = name.removesuffix(".forward")
    found = next((target for target in targets if target.name in (name, owner)), None)
    if found is not None:
        return found
    # in a file with regions, a function that none of them names was compiled inside one
    return None if any(target.is_region for target in targets) else target_named(tree, owner)
