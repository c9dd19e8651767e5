"""Resolves the names that a user wants to vary: regions of the file, or code that is compiled as if the file did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compile_lens.entries.targets import region_named
from compile_lens.syntax.tree import parse
from compile_lens.workers.job import VariationRequest


@dataclass(frozen=True, slots=True)
class ToVary:
    """``regions`` is None where no region of the file is meant; ``candidates`` are names that the file does not compile itself."""

    regions: VariationRequest | None
    candidates: tuple[str, ...]


def to_vary(text: str, names: Sequence[str]) -> ToVary:
    """What ``names`` mean in a file; none of them means all of its regions."""
    if not names:
        return ToVary(VariationRequest(), ())
    tree = parse(text)
    found = {name: region_named(tree, name) for name in names}
    regions = [known for known in found.values() if known is not None]
    candidates = tuple(name for name, known in found.items() if known is None)
    if not regions:
        return ToVary(None, candidates)
    # a region whose target the source does not tell can be any
    return ToVary(VariationRequest() if "" in regions else VariationRequest(tuple(regions)), candidates)
