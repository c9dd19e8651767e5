"""Finds doctest examples that call a target."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.agent.runtime.entry_plans import DoctestExamples
from compile_lens.entries.entry import Entry, EntryKind
from compile_lens.entries.targets import Target
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import qualified_name
from compile_lens.syntax.tree import Query, SourceTree

MOST = 3
_DOCSTRINGS = Query(
    """
    (module . (comment)* . (expression_statement (string) @text))
    (class_definition body: (block . (expression_statement (string) @text))) @owner
    (function_definition body: (block . (expression_statement (string) @text))) @owner
    """,
)
_EXAMPLE = pattern(r"(?m)^[ \t]*(?:>>>|\.\.\.) .*$")
_CALLED = pattern(r"(?<![\w.])(\w+)\(")
# `a.b(`, `f(a, b)`, but not `f(a=1)`
_CALLED_OBJECT, _PASSED = pattern(r"(?<![\w.])(\w+)(?:\.\w+)*\("), pattern(r"[(,=] *(\w+)\b(?! *=)")
_MADE = pattern(r"[ \t]*>>> *(\w+) *=(.*)")
# examples that use the network
_FETCHES = pattern(r"from_pretrained|load_dataset|https?://|requests\.|urlopen|hub\.load|Image\.open|\.download")


def find_doctests(tree: SourceTree, targets: tuple[Target, ...]) -> Iterator[Entry]:
    """An entry for each docstring whose examples call a target, up to MOST of them: first that of the first target."""
    found = sorted(_all_doctests(tree, targets), key=lambda entry: entry.spec != f"doctest:{targets[0].name}")
    yield from found[:MOST]


def _all_doctests(tree: SourceTree, targets: tuple[Target, ...]) -> Iterator[Entry]:
    for _, captured in _DOCSTRINGS.matches(tree.root):
        text = tree.node_text(captured["text"][0])
        owner = qualified_name(tree, captured["owner"][0]) if "owner" in captured else ""
        examples = "\n".join(_EXAMPLE.findall(text))
        # the text around them may have links
        if not examples or _FETCHES.search(examples):
            continue
        calls = {name for line in text.splitlines() for name in _CALLED.findall(line.partition(">>> ")[2])}
        called = next((target for target in targets if _first(target.name) in calls), None)
        if called is None:
            continue
        line = tree.position(captured["text"][0].start_byte)[0]
        at = called.plan.compile
        if at is not None and (owner != called.name or _only_constructs(examples, captured["owner"][0], owner)):
            continue
        # the examples create the object, which is then compiled
        plan = DoctestExamples(owner, at)
        yield Entry(EntryKind.DOCTEST, f"doctest:{owner}", "examples in its docstring", line, plan)


def _only_constructs(examples: str, node: tree_sitter.Node, name: str) -> bool:
    """Whether ``examples`` of the class ``name`` make objects of it and call none, which compiles nothing."""
    if node.type != "class_definition":
        return False
    construction = re.compile(rf"\b{re.escape(name)}\(")
    assigned = [found for line in examples.splitlines() if (found := _MADE.match(line))]
    made = {found[1] for found in assigned if construction.search(found[2])}
    constructions = sum(len(construction.findall(line)) for line in examples.splitlines())
    used = {*_CALLED_OBJECT.findall(examples), *_PASSED.findall(examples)}
    return constructions == sum(bool(construction.search(found[2])) for found in assigned) and made.isdisjoint(used)


def _first(name: str) -> str:
    return name.partition(".")[0]
