"""Breaks that the program asks for: ``torch._dynamo.graph_break()`` and functions marked with ``torch.compiler.disable``.

Verified on torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions.prediction import Broken
from compile_lens.syntax.predictions.setting import Setting
from compile_lens.syntax.predictions.uses import Call, Use


def find(use: Use, setting: Setting) -> Iterator[Broken]:
    if not isinstance(use, Call):
        return
    if use.name == "torch._dynamo.graph_break":
        yield Broken("explicit-break", "GB0025", use.node, "the program asks for it")
    elif use.is_disabled:
        function = use.node.child_by_field_name("function")
        named = setting.short(function) if function is not None else "the function"
        yield Broken("disabled-call", "GB0098", use.node, f"`{named}` is kept out of graphs by torch.compiler.disable")
