"""What operators become by Inductor's decompositions: recorded by tracing them (tests/knowledge/record_decompositions.py)."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data" / "decompositions.json.gz"


@dataclass(frozen=True, slots=True)
class Decompositions:
    """``becomes``: by overload (``aten.softmax.int``), the operators that were left for each form of its arguments.

    Traced on fake CPU tensors with ``torch``, as AOTAutograd does it for Inductor: mutations are taken out, decompositions applied.
    """

    torch: str
    becomes: dict[str, list[list[str]]]

    def told(self, overload: str) -> str:
        """``torch 2.13.0 makes `aten.t`, `aten.addmm` of it``, or '' when nothing was recorded."""
        forms = self.becomes.get(overload)
        if not forms:
            return ""
        shown = ["nothing" if not form else ", ".join(f"`{operator}`" for operator in form) for form in forms]
        return f"{'; or '.join(shown)} (traced on CPU with torch {self.torch})"


@cache
def decompositions() -> Decompositions:
    """What is bundled."""
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        content = json.load(file)
    return Decompositions(content["torch"], content["becomes"])
