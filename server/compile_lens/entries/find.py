"""Finds all entries of a file, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compile_lens.agent.runtime.entry_plans import ExampleInputs
from compile_lens.entries.doctests import find_doctests
from compile_lens.entries.entry import Entry, EntryKind, model_of_script, script
from compile_lens.entries.entry_spec import synthesized
from compile_lens.entries.importers import NAMES_COMPILER
from compile_lens.entries.recorded import Recording, recorded_entry
from compile_lens.entries.scripts import calls_imported, does_something, has_errors
from compile_lens.entries.targets import Target, find_targets
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.tree import Query, SourceTree
from compile_lens.wording import and_more

INPUT_NAMES = (
    "get_inputs",
    "get_example_inputs",
    "example_inputs",
    "sample_inputs",
    "get_sample_inputs",
    "example_input",
)
# names of targets that such files prefer
PREFERRED_TARGETS = ("Model", "ModelNew", "Net", "model", "forward", "f", "fn")
_ASSIGNED = Query("(module (expression_statement (assignment left: (identifier) @name)))")


def find_entries(
    tree: SourceTree, elsewhere: Sequence[Entry] = (), recording: Recording | None = None
) -> tuple[Entry, ...]:
    """Example inputs, doctests, the file as a script, ``elsewhere`` (tests and scripts of the workspace), recorded and synthesized inputs.

    A file that only contains definitions is no script. There is always at least one entry.
    """
    targets = find_targets(tree)
    found = [*find_conventions(tree, targets), *find_doctests(tree, targets)]
    is_script = does_something(tree)
    # a script that compiles nothing would only take its time
    compiles = any(target.is_region for target in targets) or NAMES_COMPILER.search(tree.text) is not None
    # what it imports may build a model, where it defines none
    may_build = is_script or (not targets and calls_imported(tree))
    if may_build and not compiles:
        found.append(model_of_script())
    if is_script or has_errors(tree) or not targets:
        found.append(script())
    found += elsewhere
    recorded = recorded_entry(tree, recording) if recording is not None else None
    if recorded is not None:
        found.append(recorded)
    if may_build and compiles:
        found.append(model_of_script())
    if targets:
        names = ", ".join(f"`{target.name}`" for target in targets[:3])
        found.append(synthesized(targets, f"inputs for {names}{and_more(len(targets) - 3)}"))
    return tuple(found)


def find_conventions(tree: SourceTree, targets: tuple[Target, ...]) -> Iterator[Entry]:
    """An entry per convention that the file follows, if it has something to call."""
    if not targets:
        return
    for name, line in _inputs_named(tree, {target.name.partition(".")[0] for target in targets}):
        owner = name.rpartition(".")[0]
        target = next((t for t in targets if owner and t.name.partition(".")[0] == owner), None)
        target = target or next((t for p in PREFERRED_TARGETS for t in targets if t.name == p), targets[0])
        plan = ExampleInputs(name, target.name, target.plan.compile)
        yield Entry(EntryKind.INPUTS, name, f"in this file, for `{target.name}`", line, plan)


def _inputs_named(tree: SourceTree, owners: set[str]) -> Iterator[tuple[str, int]]:
    """Functions and variables of these names, methods of ``owners``, and their lines, in the order of INPUT_NAMES.

    What needs arguments is something else of the same name.
    """
    found: dict[str, int] = {}
    for definition in definitions(tree):
        if definition.kind != "function" or definition.name not in INPUT_NAMES:
            continue
        owner = definition.qualified_name.rpartition(".")[0]
        is_static = any("staticmethod" in decorator for decorator in definition.decorators)
        parameters = definition.parameters[1 if owner and not is_static else 0 :]
        if (not owner or owner in owners) and all(p.default or p.name.startswith("*") for p in parameters):
            found.setdefault(definition.qualified_name, definition.def_line)
    for node in _ASSIGNED.everywhere(tree).get("name", []):
        name = tree.node_text(node)
        if name in INPUT_NAMES:
            found.setdefault(name, tree.position(node.start_byte)[0])
    yield from sorted(found.items(), key=lambda entry: INPUT_NAMES.index(entry[0].rpartition(".")[2]))
