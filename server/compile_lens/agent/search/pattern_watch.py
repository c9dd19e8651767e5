"""Records which patterns a pass of the pattern matcher applies: torch's verdict names only the pass that all of them share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..torch_internals import inductor

# the functions of `register_replacement`, which its check has in its closure (torch/_inductor/pattern_matcher.py, torch 2.6 to 2.13)
REPLACEMENT = {"search_fn": "pattern", "replace_fn": "replacement"}


class PatternWatch:
    """``functions`` are those of the patterns that were applied since it was cleared, each once, with a label for the user."""

    def __init__(self) -> None:
        self.functions: list[tuple[str, Any]] = []
        for entry in (
            inductor.GRAPH_PATTERN_APPLY,
            inductor.LOWERING_PATTERN_APPLY,
            inductor.REPLACEMENT_PATTERN_APPLY,
        ):
            entry.wrap(self._around_apply)

    def _around_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(entry: Any, *args: Any, **kwargs: Any) -> Any:
            for found in _functions_of(entry):
                if found not in self.functions:
                    self.functions.append(found)
            return original(entry, *args, **kwargs)

        return apply


def _functions_of(entry: Any) -> list[tuple[str, Any]]:
    handler = getattr(entry, "handler", None)
    if handler is not None:
        return [("pattern", handler)]
    check = getattr(entry, "extra_check", None)
    names = getattr(getattr(check, "__code__", None), "co_freevars", ())
    cells = dict(zip(names, getattr(check, "__closure__", None) or (), strict=False))
    return [(label, cells[name].cell_contents) for name, label in REPLACEMENT.items() if name in cells]
