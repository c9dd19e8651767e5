"""How long predictions take: over model files with every model compiled, beside CPython's parser on the same text."""

from __future__ import annotations

import ast
import importlib.util
import re
import time
from pathlib import Path

from benchmarks.table.figure import Absent, Figure
from compile_lens.syntax.predictions.predict import predict
from compile_lens.syntax.tree import parse

MODEL = re.compile(r"^class (\w+)\(.*(?:Model|PreTrained|Module)", re.MULTILINE)
FILES = 60


def measure() -> list[Figure]:
    """All files together, and the slowest."""
    spec = importlib.util.find_spec("transformers")
    if spec is None or spec.origin is None:
        raise Absent("transformers is not installed, and its models are what is measured")
    ours, parsers, lines = [], [], 0
    for file in sorted(Path(spec.origin).parent.glob("models/*/modeling_*.py"))[:FILES]:
        text = file.read_text(encoding="utf-8")
        text += "\n".join(["\nimport torch", *(f"torch.compile({name}(None))" for name in MODEL.findall(text)), ""])
        began = time.perf_counter()
        ast.parse(text)
        parsed = time.perf_counter()
        predict(parse(text))
        ours.append(time.perf_counter() - parsed)
        parsers.append(parsed - began)
        lines += text.count("\n")
    return [
        Figure("1,000 lines", 1e6 * sum(ours) / lines, "ms", 1e6 * sum(parsers) / lines, "ast.parse"),
        Figure("the slowest file", max(ours), "s"),
    ]
