"""Reads Inductor's output code: where it defines kernels, where it calls them, and what its comments say of each.

Forms: torch/_inductor/codegen/wrapper.py, ``get_kernel_metadata`` in torch/_inductor/utils.py (torch 2.6 to 2.13).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from compile_lens.stages.model import LineRange

AOT_ID = re.compile(r"^# AOT ID: \['(?P<number>\d+)_(?P<direction>\w+)'\]")
DEFINITION = re.compile(r"^(?P<name>\w+) = (?:async_compile\.(?P<backend>\w+)|(?P<shader>compile_mps_shader))\(")
OPENED = re.compile(r"r?('''|\"\"\")\s*$")
SOURCE_NODES = re.compile(
    r"^\s*# (?:Topologically Sorted|Unsorted) Source Nodes: \[(?P<nodes>.*)\], Original ATen: \[(?P<aten>.*)\]"
)
ATEN_NODES = re.compile(r"^\s*#   (?P<source>[\w.]*) => (?P<nodes>[\w., ]+)$")
FRAGMENT = re.compile(r"^\s*#   %(?P<name>\w+)\b[^=]* = call_function\[target=(?P<target>[^\]]+)\]")
HANDLE = re.compile(r"^\s*# \[Provenance debug handles\] (?P<call>\S+:\d+)")
LIBRARY = re.compile(r"(?<![\w.])(?P<name>extern_kernels\.\w+|(?:torch\.ops|aten|inductor_ops|_quantized)\.[\w.]+)\(")
# what follows the functions that run kernels
AFTER_CALLS = re.compile(r"^def (?:get_args|benchmark_compiled_module)\(|^if __name__ ==")
FUNCTION = re.compile(r"^\s*def \w+\(")
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


NO_COMMENTS = KernelComments()


@dataclass(frozen=True, slots=True)
class Definition:
    """A kernel that the code defines. ``lines`` include the comments above; ``source`` are those of its own code, if it is in the text."""

    name: str
    backend: str
    lines: LineRange
    source: LineRange | None
    comments: KernelComments


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of a kernel. ``handle`` is torch's name for the call, '' if the code has none; ``text`` is the statement."""

    name: str
    handle: str
    lines: LineRange
    line: int
    comments: KernelComments
    text: str


@dataclass(frozen=True, slots=True)
class OutputCode:
    """The definitions, by name, and the calls, in the order of the text."""

    definitions: Mapping[str, Definition]
    calls: tuple[KernelCall, ...]


@lru_cache(maxsize=16)
def read_output_code(text: str) -> OutputCode:
    """Read the output code of one graph."""
    lines = text.split("\n")
    definitions = {found.name: found for found in _definitions(lines)}
    return OutputCode(definitions, tuple(_calls(lines, definitions)))


def _definitions(lines: list[str]) -> Iterator[Definition]:
    index = 0
    while index < len(lines):
        found = DEFINITION.match(lines[index])
        if found is None:
            index += 1
            continue
        first = index
        while first > 0 and lines[first - 1].startswith("#"):
            first -= 1
        last, source = index, None
        if opened := OPENED.search(lines[index]):
            last = next((at for at in range(index + 1, len(lines)) if lines[at].startswith(opened[1])), len(lines) - 1)
            source = LineRange(index + 2, last)
        comments = _comments(lines, first, index)
        backend = found["backend"] or "metal"
        yield Definition(found["name"], backend, LineRange(first + 1, last + 1), source, comments)
        index = last + 1


def _calls(lines: list[str], definitions: Mapping[str, Definition]) -> Iterator[KernelCall]:
    inside = {line for found in definitions.values() for line in range(found.lines.first - 1, found.lines.last)}
    in_function = False
    comments_from: int | None = None
    handle = ""
    for index, content in enumerate(lines):
        if AFTER_CALLS.match(content):
            return
        in_function = in_function or (index not in inside and FUNCTION.match(content) is not None)
        if not in_function or index in inside:
            continue
        if content.lstrip().startswith("#"):
            comments_from = index if comments_from is None else comments_from
            if named := HANDLE.match(content):
                handle = named["call"]
            continue
        name = _called(content, definitions, handle)
        if name:
            first = index if comments_from is None else comments_from
            comments = _comments(lines, first, index)
            yield KernelCall(name, handle, LineRange(first + 1, index + 1), index + 1, comments, content.strip())
        # between the comments and the call stands what prepares it
        if name or FUNCTION.match(content):
            comments_from, handle = None, ""


def _called(content: str, definitions: Mapping[str, Definition], handle: str) -> str:
    """The kernel that a line calls, '' if none."""
    for found in NAMES.finditer(content):
        rest = content[found.end() :]
        if found[0] in definitions and rest.startswith(("(", ".run(")):
            return found[0]
    if library := LIBRARY.search(content):
        return library["name"]
    expected = handle.rpartition(":")[0]
    return expected if expected and f"{expected}(" in content else ""


def _comments(lines: list[str], first: int, end: int) -> KernelComments:
    """What the comments among ``lines[first:end]`` say."""
    source_nodes: tuple[str, ...] = ()
    aten: tuple[str, ...] = ()
    nodes: dict[str, str] = {}
    places: dict[int, str] = {}
    for index in range(first, end):
        content = lines[index]
        if not content.lstrip().startswith("#"):
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
