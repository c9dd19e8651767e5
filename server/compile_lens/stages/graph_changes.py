"""What changed between two printed graphs of one program: its nodes, and a diff without what printing adds.

Node names stay the same from pass to pass, so lines are compared as they are, without the comments around them and without the values that
a line frees: both move when a neighbor goes. The form is that of ``print_readable`` (torch/fx/graph.py, torch 2.6 to 2.15).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from compile_lens.stages.graph_lines import CLASS, NODE

CONTEXT = 3
# what a line frees (``;  add = None``)
FREES = ";  "


@dataclass(frozen=True, slots=True)
class GraphChanges:
    """The nodes that are new, gone, and called otherwise; ``is_reordered``: others changed places. ``text`` is the diff."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    is_reordered: bool
    text: str

    @property
    def is_empty(self) -> bool:
        return not self.text


@dataclass(frozen=True, slots=True)
class _CodeLine:
    """A line of code: its number, the place that it comes from as torch's comment has it, and its node, '' if it is none."""

    number: int
    text: str
    place: str
    node: str


@lru_cache(maxsize=64)
def changes_between(before: str, after: str) -> GraphChanges:
    """What is different in ``after``."""
    old, new = tuple(_lines(before)), tuple(_lines(after))
    old_nodes = {line.node: line.text for line in old if line.node}
    new_nodes = {line.node: line.text for line in new if line.node}
    kept = [name for name in old_nodes if name in new_nodes]
    return GraphChanges(
        tuple(name for name in new_nodes if name not in old_nodes),
        tuple(name for name in old_nodes if name not in new_nodes),
        tuple(name for name in kept if old_nodes[name] != new_nodes[name]),
        kept != [name for name in new_nodes if name in old_nodes],
        "".join(f"{line}\n" for line in _diff(old, new)),
    )


def _lines(text: str) -> Iterator[_CodeLine]:
    place, graph, outer = "", "", ""
    for number, content in enumerate(text.split("\n"), 1):
        stripped = content.strip()
        if stripped.startswith("#"):
            place = content.rstrip()
            continue
        if not stripped:
            continue
        if found := CLASS.match(content):
            # the outermost graph is named by a class that may be called otherwise from pass to pass
            outer = outer or found["name"]
            graph, place = "" if found["name"] == outer else f"{found['name']}.", ""
        code = content.partition(FREES)[0].rstrip()
        node = NODE.match(code)
        yield _CodeLine(number, code, place, f"{graph}{node['name']}" if node is not None else "")


def _diff(old: tuple[_CodeLine, ...], new: tuple[_CodeLine, ...]) -> Iterator[str]:
    """Lines that changed with those around them, each part after the place that it comes from."""
    matcher = SequenceMatcher(None, [line.text for line in old], [line.text for line in new], autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        before, after = old[first[1] : last[2]], new[first[3] : last[4]]
        yield f"@@ -{_start(before)},{len(before)} +{_start(after)},{len(after)} @@"
        place = ""
        for tag, from_old, to_old, from_new, to_new in group:
            parts = (
                [(" ", new[from_new:to_new])]
                if tag == "equal"
                else [("-", old[from_old:to_old]), ("+", new[from_new:to_new])]
            )
            for sign, lines in parts:
                for line in lines:
                    if line.place and line.place != place:
                        place = line.place
                        yield f" {place}"
                    yield f"{sign}{line.text}"


def _start(lines: tuple[_CodeLine, ...]) -> int:
    return lines[0].number if lines else 0
