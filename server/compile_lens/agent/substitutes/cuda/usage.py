"""Whether a program asks for a GPU: what its text names, before any of it runs."""

from __future__ import annotations

import ast
import re

# "cuda", "cuda:0", "cuda:" of an f-string; "nccl"
DEVICE = re.compile(r"cuda(:\d*)?|nccl|(cpu:gloo,)?cuda:nccl(,cpu:gloo)?")
NAMES = frozenset({"cuda", "nccl", "accelerator"})
ROUGHLY = re.compile(r"\bcuda\b|\bnccl\b|torch\.accelerator\b")


def asks_for_gpu(text: str) -> bool:
    """Whether ``text`` uses a device ``cuda``, its library or torch's module for accelerators. A docstring or comment is no use."""
    if not ROUGHLY.search(text):
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return True  # it ends with its error in any case; what stands before may use it
    return any(_uses(node) for node in ast.walk(tree))


def _uses(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in NAMES
    if isinstance(node, ast.alias):
        return node.name.split(".")[-1] in NAMES or node.name.startswith("torch.cuda.")
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith(("torch.cuda", "torch.accelerator"))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and DEVICE.fullmatch(node.value) is not None
