"""Reads Inductor's output code: where it defines kernels, where it calls them, and what its comments say of each.

Forms: torch/_inductor/codegen/wrapper.py (torch 2.6 to 2.13); a wrapper of C++ has a reader of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from compile_lens.stages.code_parts import NAMES, KernelCall, KernelDefinition, OutputCode, commented_calls, comments_of
from compile_lens.stages.cpp_wrapper_code import is_cpp_wrapper, read_cpp_wrapper
from compile_lens.stages.model import LineRange

AOT_ID = re.compile(r"^# AOT ID: \['(?P<number>\d+)_(?P<direction>\w+)'\]")
DEFINITION = re.compile(r"^(?P<name>\w+) = (?:async_compile\.(?P<backend>\w+)|(?P<shader>compile_mps_shader))\(")
OPENED = re.compile(r"r?('''|\"\"\")\s*$")
LIBRARY = re.compile(r"(?<![\w.])(?P<name>extern_kernels\.\w+|(?:torch\.ops|aten|inductor_ops|_quantized)\.[\w.]+)\(")
# what follows the functions that run kernels
AFTER_CALLS = re.compile(r"^def (?:get_args|benchmark_compiled_module)\(|^if __name__ ==")
FUNCTION = re.compile(r"^\s*def \w+\(")


@lru_cache(maxsize=16)
def read_output_code(text: str) -> OutputCode:
    """Read the output code of one graph."""
    lines = text.split("\n")
    if is_cpp_wrapper(text):
        return read_cpp_wrapper(lines)
    definitions = {found.name: found for found in _definitions(lines)}
    return OutputCode(definitions, tuple(_calls(lines, definitions)))


def _definitions(lines: list[str]) -> Iterator[KernelDefinition]:
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
        comments = comments_of(lines, first, index)
        backend = found["backend"] or "metal"
        yield KernelDefinition(found["name"], backend, LineRange(first + 1, last + 1), source, comments)
        index = last + 1


def _calls(lines: list[str], definitions: Mapping[str, KernelDefinition]) -> Iterator[KernelCall]:
    inside = {line for found in definitions.values() for line in range(found.lines.first - 1, found.lines.last)}

    def called(content: str, handle: str) -> str:
        return _called(content, definitions, handle)

    return commented_calls(lines, _in_functions(lines, inside), called, FUNCTION)


def _in_functions(lines: list[str], inside: set[int]) -> Iterator[int]:
    """The lines of the functions that run kernels, without those ``inside`` definitions."""
    in_function = False
    for index, content in enumerate(lines):
        if AFTER_CALLS.match(content):
            return
        in_function = in_function or (index not in inside and FUNCTION.match(content) is not None)
        if in_function and index not in inside:
            yield index


def _called(content: str, definitions: Mapping[str, KernelDefinition], handle: str) -> str:
    """The kernel that a line calls, '' if none."""
    for found in NAMES.finditer(content):
        rest = content[found.end() :]
        if found[0] in definitions and rest.startswith(("(", ".run(")):
            return found[0]
    if library := LIBRARY.search(content):
        return library["name"]
    expected = handle.rpartition(":")[0]
    return expected if expected and f"{expected}(" in content else ""
