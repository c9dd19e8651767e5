"""The parts of Inductor's output code: definitions of kernels, calls, and what the comments above them say.

The comments are the same in a wrapper of Python and in one of C++, but for their sign (``get_kernel_metadata`` in torch/_inductor/utils.py,
torch 2.6 to 2.15).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from compile_lens.stages.model import LineRange

SOURCE_NODES = re.compile(
    r"^\s*(?:#|//) (?:Topologically Sorted|Unsorted) Source Nodes: \[(?P<nodes>.*)\], Original ATen: \[(?P<aten>.*)\]"
)
ATEN_NODES = re.compile(r"^\s*(?:#|//)   (?P<source>[\w.]*) => (?P<nodes>[\w., ]+)$")
FRAGMENT = re.compile(r"^\s*(?:#|//)   %(?P<name>\w+)\b[^=]* = call_function\[target=(?P<target>[^\]]+)\]")
HANDLE = re.compile(r"^\s*(?:#|//) \[Provenance debug handles\] (?P<call>\S+:\d+)")
COMMENT = re.compile(r"^\s*(?:#|//)")
NAMES = re.compile(r"\b\w+\b")


@dataclass(frozen=True, slots=True)
class KernelComments:
    """What the comments above a kernel's definition or call say. ``source_nodes`` are of Dynamo's graph, or of the backward graph.

    ``nodes`` are post-grad nodes with their targets, ``places`` the lines of the comments that name them.
    """

    source_nodes: tuple[str, ...] = ()
    aten: tuple[str, ...] = ()
    nodes: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KernelDefinition:
    """A kernel that the code defines. ``lines`` include the comments above; ``source`` are those of its own code, if it is in the text."""

    name: str
    backend: str
    lines: LineRange
    source: LineRange | None
    comments: KernelComments


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of a kernel. ``handle`` is torch's name for the call, '' if the code has none; ``text`` is the statement, of Python or C++."""

    name: str
    handle: str
    lines: LineRange
    line: int
    comments: KernelComments
    text: str
    is_cpp: bool = False


@dataclass(frozen=True, slots=True)
class OutputCode:
    """The definitions, by name, and the calls, in the order of the text."""

    definitions: Mapping[str, KernelDefinition]
    calls: tuple[KernelCall, ...]


def commented_calls(
    lines: list[str],
    indexes: Iterable[int],
    called: Callable[[str, str], str],
    begins: re.Pattern[str] | None = None,
    is_cpp: bool = False,
) -> Iterator[KernelCall]:
    """The calls in some lines, each with the comments above it; between them stands what prepares the call.

    ``called`` finds the kernel that a line calls, '' if none, given the handle that the comments name. Comments above a line that
    ``begins`` matches are not those of the next call.
    """
    comments_from: int | None = None
    handle = ""
    for index in indexes:
        content = lines[index]
        if COMMENT.match(content):
            comments_from = index if comments_from is None else comments_from
            if named := HANDLE.match(content):
                handle = named["call"]
            continue
        name = called(content, handle)
        if name:
            first = index if comments_from is None else comments_from
            comments = comments_of(lines, first, index)
            place = LineRange(first + 1, index + 1)
            yield KernelCall(name, handle, place, index + 1, comments, content.strip(), is_cpp)
        if name or (begins is not None and begins.match(content)):
            comments_from, handle = None, ""


def comments_of(lines: list[str], first: int, end: int) -> KernelComments:
    """What the comments among ``lines[first:end]`` say."""
    source_nodes: tuple[str, ...] = ()
    aten: tuple[str, ...] = ()
    nodes: dict[str, str] = {}
    places: dict[int, str] = {}
    for index in range(first, end):
        content = lines[index]
        if not COMMENT.match(content):
            continue
        if found := SOURCE_NODES.match(content):
            source_nodes, aten = _listed(found["nodes"]), _listed(found["aten"])
        elif found := FRAGMENT.match(content):
            nodes[found["name"]] = found["target"]
            places[index + 1] = found["name"]
        elif found := ATEN_NODES.match(content):
            for name in _listed(found["nodes"]):
                nodes.setdefault(name, "")
    return KernelComments(source_nodes, aten, nodes, places)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
