"""Says what an operator without a text of torch's does, where its name tells: gradients, lists, in-place forms and copies of views."""

from __future__ import annotations

from collections.abc import Callable


def functional_form(packet: str, has: Callable[[str], bool]) -> str | None:
    """``aten.relu`` for ``aten.relu_``, if there is such an operator."""
    namespace, _, name = packet.partition(".")
    if not name.endswith("_") or name.endswith("__"):
        return None
    form = f"{namespace}.{name.removesuffix('_')}"
    return form if has(form) else None


def text_of_name(packet: str, has: Callable[[str], bool]) -> str:
    """A sentence about the operator ``packet``, or ''. ``has`` tells which operators there are."""
    namespace, _, name = packet.partition(".")
    if name.startswith("_foreach_"):
        each = name.removeprefix("_foreach_").removesuffix("_")
        where = ", in place" if name.endswith("_") else ""
        return (
            f"`{namespace}.{each}` for each tensor of a list, in few kernels{where}."
            if has(f"{namespace}.{each}")
            else ""
        )
    functional = functional_form(packet, has)
    if functional is not None:
        return f"`{functional}` in place: its first argument is changed."
    for ending, sentence in (
        ("_double_backward", "The second gradient of `{}`. Autograd calls it."),
        ("_backward", "The gradient of `{}`. Autograd calls it in the backward pass."),
        ("_copy", "`{}`, with a copy as its result instead of a view."),
        ("_jvp", "The forward-mode derivative of `{}`. Autograd calls it."),
    ):
        base = name.removesuffix(ending)
        for known in (f"{namespace}.{base}", f"{namespace}.{base.removeprefix('_')}"):
            if base != name and has(known):
                return sentence.format(known)
    return ""
