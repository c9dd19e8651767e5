"""What a rule sees, what it matches, and the prediction made of a match."""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter
from msgspec import Struct

from compile_lens.syntax.predictions.switches import Switches
from compile_lens.syntax.regions import Region
from compile_lens.syntax.tree import Range

_LONGEST = 40


class RuleContext(Struct, frozen=True):
    """What a rule may look at besides the use itself: the switches of the file, and the text of its nodes."""

    switches: Switches
    text: Callable[[tree_sitter.Node], str]

    def short(self, node: tree_sitter.Node) -> str:
        """The source of an expression, shortened for a sentence."""
        text = " ".join(self.text(node).split())
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


class RuleMatch(Struct, frozen=True):
    """A use that a rule matches: the expression, torch's code, and one sentence."""

    rule: str
    code: str
    node: tree_sitter.Node
    sentence: str


class Prediction(Struct, frozen=True):
    """A construct on which Dynamo is known to break.

    ``code`` is torch's (``GB0059``). ``function`` is the qualified name of the enclosing function, which begins at
    ``function_line`` (``co_firstlineno``). ``regions`` are the compile regions that reach it. ``is_error``: none of them allows a
    break (``fullgraph=True``).
    """

    rule: str
    code: str
    place: Range
    sentence: str
    function: str
    function_line: int
    regions: tuple[Region, ...]

    @property
    def is_error(self) -> bool:
        return all(region.fullgraph for region in self.regions)
