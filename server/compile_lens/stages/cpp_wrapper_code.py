"""Reads output code whose wrapper is C++ (``cpp_wrapper``, AOTInductor): where it defines kernels, and where it calls them.

Forms: torch/_inductor/codegen/cpp_wrapper_cpu.py and cpp_wrapper_gpu.py (torch 2.6 to 2.15). C++ kernels are functions of the same text.
Triton kernels are strings (torch 2.13), or stand in the code that tunes them, which is a comment (before); ``call_NAME`` launches one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from compile_lens.stages.code_parts import (
    COMMENT,
    NAMES,
    KernelCall,
    KernelDefinition,
    OutputCode,
    commented_calls,
    comments_of,
)
from compile_lens.stages.model import LineRange

ENTRY = re.compile(r"^(?:[\w:]+\s+){0,20}(?:inductor_entry_impl|AOTInductorModel::_?\w*run_impl)\(", re.MULTILINE)
CPP_KERNEL = re.compile(r'^extern "C"\s+(?:\w+\s+)*?void\s+(?P<name>\w+)\((?P<parameters>[^;{}]*)\)\s*\{', re.MULTILINE)
TRITON_STRING = re.compile(r'^static const char\* (?P<name>\w+)_source = R"TRITON\(')
TRITON_TUNED = re.compile(r"^\s*(?P<name>\w+) = async_compile\.triton\(")
QUOTE = re.compile(r"('''|\"\"\")")
# a function of torch's for one operator on one kind of device; others are of its runtime
LIBRARY = re.compile(r"\b(?P<name>aoti_torch_(?:cpu|cuda|xpu|mps)_\w+)\(")
LAUNCH = "call_"
END = "}"


def is_cpp_wrapper(text: str) -> bool:
    """Whether a wrapper of C++ runs the kernels of this code."""
    return ENTRY.search(text) is not None


def read_cpp_wrapper(lines: list[str]) -> OutputCode:
    """The definitions and calls of such code."""
    definitions = {found.name: found for found in (*_cpp_kernels(lines), *_triton_kernels(lines))}
    return OutputCode(definitions, tuple(_calls(lines, definitions)))


def _cpp_kernels(lines: list[str]) -> Iterator[KernelDefinition]:
    text = "\n".join(lines)
    for found in CPP_KERNEL.finditer(text):
        first = text.count("\n", 0, found.start())
        last = _end(lines, text.count("\n", 0, found.end()))
        comments = _comments_from(lines, first)
        source = LineRange(first + 1, last + 1)
        yield KernelDefinition(
            found["name"], "cpp", LineRange(comments + 1, last + 1), source, comments_of(lines, comments, first)
        )


def _triton_kernels(lines: list[str]) -> Iterator[KernelDefinition]:
    for index, content in enumerate(lines):
        if found := TRITON_STRING.match(content):
            opened, ends = index + 1, ')TRITON"'
        elif found := TRITON_TUNED.match(content):
            opened, ends = index, ""
        else:
            continue
        quote = QUOTE.search(lines[opened]) if opened < len(lines) else None
        if quote is None:
            continue
        rest = range(opened + 1, len(lines))
        closed = next((at for at in rest if lines[at].lstrip().startswith(quote[1])), len(lines) - 1)
        last = next((at for at in range(closed, len(lines)) if lines[at].startswith(ends)), closed)
        first = _comments_from(lines, index)
        source = LineRange(opened + 2, closed)
        yield KernelDefinition(
            found["name"], "triton", LineRange(first + 1, last + 1), source, comments_of(lines, first, index)
        )


def _calls(lines: list[str], definitions: Mapping[str, KernelDefinition]) -> Iterator[KernelCall]:
    """The calls in the functions that run the graph."""

    def called(content: str, handle: str) -> str:
        return _called(content, definitions, handle)

    for start, content in enumerate(lines):
        if ENTRY.match(content):
            for call in commented_calls(lines, range(start + 1, _end(lines, start)), called, is_cpp=True):
                # a result that the function makes is passed as the address of its handle
                yield replace(call, text=call.text.replace("_handle", ""))


def _called(content: str, definitions: Mapping[str, KernelDefinition], handle: str) -> str:
    """The kernel that a line calls, '' if none."""
    for found in NAMES.finditer(content):
        name = found[0].removeprefix(LAUNCH)
        if name in definitions and content[found.end() :].startswith("("):
            return name
    if library := LIBRARY.search(content):
        return library["name"]
    # an operator without a function of its own is called by its name: ``"aten::index_reduce"``
    expected = handle.rpartition(":")[0]
    namespace, _, operator = expected.removeprefix("torch.ops.").partition(".")
    is_named = operator and f'"{namespace}::{operator.partition(".")[0]}"' in content
    return expected if expected and (f"{expected}(" in content or is_named) else ""


def _end(lines: list[str], start: int) -> int:
    """Where the function that begins at ``start`` ends."""
    return next((at for at in range(start, len(lines)) if lines[at].startswith(END)), len(lines) - 1)


def _comments_from(lines: list[str], index: int) -> int:
    while index > 0 and COMMENT.match(lines[index - 1]) and not lines[index - 1].startswith("#include"):
        index -= 1
    return index
