"""The decompositions of operators for Inductor, recorded by tracing them (tests/knowledge/record_decompositions.py)."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data" / "decompositions.json.gz"


@dataclass(frozen=True, slots=True)
class Decompositions:
    """``becomes``: by overload (``aten.softmax.int``), the operators that remain for each form of its arguments.

    Traced on fake CPU tensors with ``torch``, as AOTAutograd does for Inductor: functionalized and decomposed.
    """

    torch: str
    becomes: dict[str, list[list[str]]]

    def describe(self, overload: str) -> str:
        """```aten.t`, `aten.addmm` (traced on CPU with torch 2.13.0)``, or '' if nothing was recorded."""
        forms = self.becomes.get(overload)
        if not forms:
            return ""
        shown = ["nothing" if not form else ", ".join(f"`{operator}`" for operator in form) for form in forms]
        return f"{'; or '.join(shown)} (traced on CPU with torch {self.torch})"


@cache
def decompositions() -> Decompositions:
    """The bundled data."""
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        content = json.load(file)
    return Decompositions(content["torch"], content["becomes"])
