"""What became of each function: graphs, operations and kernels, from a trace that was recorded on a GPU."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from compile_lens.analysis.compiled_functions import summarize_compiled
from compile_lens.analysis.outcome_parts import CompiledFunction
from compile_lens.diff.compiled import compare_compiled
from compile_lens.trace.builder import read_report

TRACE = next((Path(__file__).parent.parent / "data" / "h200-single").glob("dedicated_log_*.gz"))


def test_each_kernel_of_the_code_is_counted_once_for_its_function() -> None:
    functions = summarize_compiled(read_report(TRACE))
    kernels = sum(len(one.kernels) for one in functions)
    text = gzip.decompress(TRACE.read_bytes()).decode()
    assert kernels == text.count("= async_compile.") + len(re.findall(r"extern_kernels\.\w+\(", text)) > 100
    assert all(one.graphs > 0 for one in functions)


def test_functions_are_compared_by_their_names_also_in_another_file() -> None:
    def of(file: str, name: str, line: int, *kernels: str) -> CompiledFunction:
        return CompiledFunction(file, name, line, 1, 2, kernels)

    before = (of("a.py", "f", 1, "add", "mm"), of("a.py", "g", 9), of("a.py", "same", 20))
    after = (of("b.py", "f", 5, "add", "add"), of("b.py", "h", 9), of("a.py", "same", 30))
    moved, new, gone = compare_compiled(before, after)
    assert (moved.new_kernels, moved.gone_kernels) == (("add",), ("mm",))
    assert (new.before, new.shown.name, gone.after, gone.shown.name) == (None, "h", None, "g")
