"""Texts with words in the product's source that no user reads, and why."""

from __future__ import annotations

# calls whose texts are compared, looked up, or meant for a log of ours
MATCHED = frozenset(
    (
        "Query",
        "TypeVar",
        "cast",
        "compile",
        "count",
        "debug",
        "decode",
        "encode",
        "endswith",
        "error",
        "exception",
        "find",
        "findall",
        "finditer",
        "fullmatch",
        "hasattr",
        "import_module",
        "index",
        "info",
        "lstrip",
        "match",
        "partition",
        "removeprefix",
        "removesuffix",
        "replace",
        "rfind",
        "rpartition",
        "rsplit",
        "rstrip",
        "search",
        "setattr",
        "split",
        "startswith",
        "strip",
        "sub",
        "warning",
    )
)

# MODULE::CONSTANT or MODULE::FUNCTION, without folders, so that a module may move
NEVER_SHOWN = {
    "builder.py::LIMIT": "parts of torch's messages",
    "builder.py::ReportBuilder._on_backward_metrics": "a key of torch's records",
    "compile_errors.py::NO_RESUME": "a part of torch's message",
    "cuda_graph_text.py::LIMIT": "a part of torch's message",
    "cuda_graph_text.py::NO_CUDA_GRAPHS": "a part of torch's message",
    "error_words.py::HEADING": "a part of the compiler's output",
    "graph_breaks.py::SIGNS": "parts of torch's messages",
    "guesses.py::DIMENSIONS": "patterns of names",
    "log_notes.py::NO_CUDA_GRAPHS": "a part of torch's message",
    "missing_imports.py::IMPORT_SYSTEM": "a file name of the import system",
    "option_values.py::_LEFT_OUT": "a part of torch's records",
    "serving.py::serve": "the form of a line in the log",
    "text_output.py::STYLE": "styles of the terminal",
    "tokenizers.py::CHAT": "a chat template of a stand-in",
    "tracked_environment.py::AS_IT_IS": "what git is told of a path",
    "unit_test.py::NO_EXPECTTEST": "a part of Python's message",
}

# texts beside which a shown one stands in a table: what torch says, by which the row is found
KEYS = frozenset(
    (
        "aoti packaging",
        "cpu device",
        "cudagraph managed tensor",
        "fake tensors",
        "incompatible op",
        "inductor codegen",
        "inductor lowering",
        "mutated inputs",
        "recompile limit reached",
        "static input data pointer changed",
    )
)
