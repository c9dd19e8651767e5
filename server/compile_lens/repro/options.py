"""What options of torch a script may set by what a run says: those of torch's own modules of options, to numbers, switches and plain words.

Some options name a program that torch starts, or a folder that it loads code from (`torch._inductor.config.cpp.cxx`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from typing import Any

from compile_lens.late_pattern import pattern
from compile_lens.syntax.foreign_texts import parse_expression

_NAME = pattern(r"torch\.(?:_dynamo|_inductor|_functorch)\.config\.([A-Za-z_.\w]+)")
_PART = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
# classes of options in torch's modules of options (torch 2.6 to 2.13); all else in them that has parts is a module of Python or of torch
_CLASSES = frozenset(
    [
        "triton", "cpp", "cuda", "xpu", "cutlass", "rocm", "mtia", "halide", "trace", "aot_inductor", "aot_inductor_mode",
        "aten_distributed_optimizations", "auto_chunker", "autoheuristic_collect", "autoheuristic_use", "_collective",
        "eager_numerics", "lookup_table", "test_configs",
    ]
)  # fmt: skip
# one word: of several, a tool that is started gets the second as an argument of its own (`-march={march}`, torch/_inductor/cpp_builder.py)
_WORD = pattern(r"[A-Za-z0-9_][\w,:-]{0,200}")
_LEADS_ELSEWHERE = pattern(
    r"(?i)^(?:.*_)?(?:cxx|cc|nvcc|gcc|hipcc|cmd|command|compiler|linker|flags?|args|dirs?|folder|paths?|root|file(?:name)?|home|url|host|server|"
    r"key|prefix|cutlass\w*|rocm\w*|cuda_cxx|lib\w*|include\w*|march|wrapper\w*|custom_ops\w*|module\w*|fn|pass|hook|config|log\w*|output\w*|cache\w*|strategy)"
)
# arguments of `torch.compile` that may be more than data
ARGUMENTS = frozenset(["backend", "options", "guard_filter_fn"])


def option(line: str, stands_in_source: Callable[[str], bool]) -> str | None:
    """``torch._dynamo.config.name = value`` as it is written into a script, or None for what is no option, or may start something."""
    left, equals, right = line.partition(" = ")
    found = _NAME.fullmatch(left)
    if found is None or not equals:
        return None
    try:
        value = ast.literal_eval(parse_expression(right))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return f"{left} = {value!r}" if _may_have(found[1], value, stands_in_source) else None


def may_have_all(options: Mapping[str, Any], stands_in_source: Callable[[str], bool]) -> bool:
    """Whether a script may have these ``options`` of ``torch.compile``, by their names below `torch._inductor.config`."""
    return all(_may_have(name, value, stands_in_source) for name, value in options.items())


def _may_have(name: str, value: Any, stands_in_source: Callable[[str], bool]) -> bool:
    if not _is_option(name):
        return False
    texts = list(_texts(value))
    leads_elsewhere = any(_LEADS_ELSEWHERE.fullmatch(part) is not None for part in name.split("."))
    return all(
        (_WORD.fullmatch(text) is not None and not leads_elsewhere) or stands_in_source(text) for text in texts if text
    )


def _is_option(name: str) -> bool:
    """Whether ``name`` is one plain word, or one below a class of options; not something of a module that torch's own imports."""
    parts = name.split(".")
    if not all(_PART.fullmatch(part) is not None and not part.startswith("__") for part in parts):
        return False
    if len(parts) == 2:
        return parts[0] in _CLASSES
    return len(parts) == 1 and name not in sys.stdlib_module_names | _CLASSES | {"torch"}


def _texts(value: Any) -> list[str]:
    if isinstance(value, list | tuple | set | frozenset):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in _texts(item)]
    return [str(value, "latin-1") if isinstance(value, bytes) else value] if isinstance(value, str | bytes) else []
