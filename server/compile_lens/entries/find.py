"""Finds all entries of a file, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Sequence

from compile_lens.entries.conventions import find_conventions
from compile_lens.entries.doctests import find_doctests
from compile_lens.entries.entry import Entry, script
from compile_lens.entries.entry_spec import synthesized
from compile_lens.entries.recorded import Recording, recorded_entry
from compile_lens.entries.scripts import does_something, has_errors
from compile_lens.entries.targets import find_targets
from compile_lens.syntax.tree import SourceTree


def find_entries(
    tree: SourceTree, elsewhere: Sequence[Entry] = (), recording: Recording | None = None
) -> tuple[Entry, ...]:
    """Example inputs, doctests, the file as a script, ``elsewhere`` (tests and scripts of the workspace), recorded and synthesized inputs.

    A file that only contains definitions is no script. There is always at least one entry.
    """
    targets = find_targets(tree)
    found = [*find_conventions(tree, targets), *find_doctests(tree, targets)]
    if does_something(tree) or has_errors(tree) or not targets:
        found.append(script())
    found += elsewhere
    recorded = recorded_entry(tree, recording) if recording is not None else None
    if recorded is not None:
        found.append(recorded)
    if targets:
        names = ", ".join(f"`{target.name}`" for target in targets[:3])
        more = f" and {len(targets) - 3} more" if len(targets) > 3 else ""
        found.append(synthesized(targets, f"inputs for {names}{more}"))
    return tuple(found)
