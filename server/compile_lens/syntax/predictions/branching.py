"""Python decides by the value of a tensor: ``if``, ``while``, ``assert``, ``and``, ``not``, a conditional expression.

Verified on torch 2.13. ``assert tensor`` with a plain string, or without a message, is kept in the graph; one whose message is
made (an f-string) is a branch. With ``capture_scalar_outputs`` a number that came from a tensor is one, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions.prediction import Broken
from compile_lens.syntax.predictions.setting import Setting
from compile_lens.syntax.predictions.uses import Call, How, Test, Use
from compile_lens.syntax.predictions.values import Sort, element


def find(use: Use, setting: Setting) -> Iterator[Broken]:
    if isinstance(use, Test) and (use.value.is_tensor or use.value.sort is Sort.UNBACKED):
        shown = setting.short(use.node)
        if use.how is How.BRANCH:
            yield Broken("tensor-branch", "GB0170", use.node, f"which way to go depends on the tensor `{shown}`")
        elif use.how is How.ASSERT_WITH_MADE_MESSAGE:
            yield Broken(
                "tensor-assert",
                "GB0170",
                use.node,
                f"asserting `{shown}` is a branch, as its message is no plain string",
            )
        elif use.how is How.NOT and use.value.is_tensor:
            yield Broken("tensor-not", "GB0033", use.node, f"`{shown}` needs the tensor's value")
    elif isinstance(use, Call) and len(use.positional) == 1:
        given = use.positional[0]
        holds_tensors = given.is_tensor or (given.sort is Sort.SEQUENCE and element(given).is_tensor)
        if use.name in ("builtins.any", "builtins.all") and holds_tensors:
            yield Broken("tensor-any-all", "GB0170", use.node, f"`{setting.short(use.node)}` asks tensors one by one")
