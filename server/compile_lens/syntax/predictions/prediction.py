"""One predicted graph break."""

from __future__ import annotations

from dataclasses import dataclass

import tree_sitter

from compile_lens.syntax.regions import Region
from compile_lens.syntax.tree import Range


@dataclass(frozen=True, slots=True)
class Broken:
    """What a rule says of a use: the expression, torch's code, and one sentence."""

    rule: str
    code: str
    node: tree_sitter.Node
    sentence: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """A construct that Dynamo is known to break on.

    ``code`` is torch's (``GB0059``). ``function`` is the qualified name of the function it stands in, which begins at
    ``function_line`` (``co_firstlineno``). ``regions`` are the compile regions that lead there. ``is_error``: all of them allow no
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
