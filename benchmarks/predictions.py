"""How long predictions take: over model files with every model compiled, beside CPython's parser on the same text."""

from __future__ import annotations

import ast
import importlib.util
import re
import statistics
import time
from pathlib import Path

from compile_lens.syntax.predictions.predict import predict
from compile_lens.syntax.tree import parse

MODEL = re.compile(r"^class (\w+)\(.*(?:Model|PreTrained|Module)", re.MULTILINE)
FILES = 60


def run() -> None:
    """Print the figures."""
    spec = importlib.util.find_spec("transformers")
    if spec is None or spec.origin is None:
        print("predictions: transformers is not installed, and its models are what is measured")
        return
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
    ratios = [mine / theirs for mine, theirs in zip(ours, parsers, strict=True)]
    print(
        f"predictions of {len(ours)} model files of {lines} lines, with every class compiled, beside ast.parse of them:"
    )
    print(
        f"  {sum(ours) / sum(parsers):.1f}x in all, {statistics.median(ratios):.1f}x at the median, {max(ratios):.0f}x at most"
    )
    print(
        f"  {sum(ours) / lines * 1e6:.0f} ms for 1,000 lines; the slowest file {max(ours):.2f} s, on a thread of its own"
    )
