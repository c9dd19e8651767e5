"""What a rule may look at besides the use itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tree_sitter

from compile_lens.syntax.predictions.switches import Switches

_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Setting:
    """The switches of the file, and the text of its nodes."""

    switches: Switches
    text: Callable[[tree_sitter.Node], str]

    def short(self, node: tree_sitter.Node) -> str:
        """The source of an expression for a sentence."""
        text = " ".join(self.text(node).split())
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
