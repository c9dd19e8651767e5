"""Recognizes torch's own output (graphs, IR dumps, generated code) and the names in it."""

from __future__ import annotations

import re

from msgspec import Struct

from compile_lens.late_pattern import pattern

_WORD = pattern(r"[A-Za-z_][\w.]*(?:::\w+)*(?:\.[\w]+)*")
_SIGNS_OF_OUTPUT = (
    "# AOT ID:",
    "TRACED GRAPH",
    "class GraphModule(torch.nn.Module)",
    "SchedulerNode(",
    "_loop_body:",
    "@triton_heuristics",
    "async_compile = AsyncCompile()",
)
LOOKED_AT = 20_000


class Word(Struct, frozen=True):
    """A dotted word up to the part at the cursor, and its columns (from 0) in the line."""

    text: str
    column: int
    end_column: int


def is_compiler_output(text: str) -> bool:
    """Whether a text looks like something that torch wrote."""
    head = text[:LOOKED_AT]
    return any(sign in head for sign in _SIGNS_OF_OUTPUT)


def word_at(line: str, column: int) -> Word | None:
    """The word at a column (from 0): with the cursor on ``relu`` of ``torch.ops.aten.relu.default``, ``torch.ops.aten.relu``."""
    for match in _WORD.finditer(line):
        if match.start() <= column <= match.end():
            end = match.end()
            following = re.search(r"[.:]", line[column:end])
            if following is not None and following.start() > 0:
                end = column + following.start()
            text = line[match.start() : end].rstrip(".:")
            return Word(text, match.start(), match.start() + len(text))
    return None


def generic_name(word: str) -> str:
    """The name under which a numbered name is explained: ``buf12`` as ``buf0``, ``primals_7`` as ``primals_1``, a kernel by its kind."""
    kernel = re.match(r"(triton_(?:poi|red|per)_fused|cpp_fused)", word)
    if kernel is not None:
        return kernel.group(1)
    if re.fullmatch(r"(?:primals|tangents)_\d+", word):
        return f"{word.rpartition('_')[0]}_1"
    if re.fullmatch(r"arg\d+_1", word):
        return "arg0_1"
    numbered = re.fullmatch(r"(buf|tmp|in_ptr|out_ptr|in_out_ptr|s|u|ks)\d+", word)
    if numbered is not None:
        return "s0" if numbered.group(1) in ("s", "ks") else f"{numbered.group(1)}0"
    if re.fullmatch(r"[xyz]\d", word):
        return f"{word[0]}index"
    if re.fullmatch(r"r\d_?\d*", word):
        return "r0_index"
    if re.fullmatch(r"empty_strided_\w+", word):
        return "empty_strided_cuda"
    return word
