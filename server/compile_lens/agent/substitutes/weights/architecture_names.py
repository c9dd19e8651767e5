"""Which architecture a name tells: ``google-bert/bert-base-uncased`` is a ``bert``.

``transformers`` does this for configurations that do not say it (configuration_auto.py, ``AutoConfig.from_pretrained``: the longest
known kind that stands anywhere in the name). Here a kind begins at a word, if any does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WORDS = re.compile(r"[a-z]+|\d+")
SHORTEST_INSIDE = 5  # letters; "opt" stands in "adopted"


def architecture_of(name: str, known: Iterable[str]) -> str | None:
    """The one of ``known`` that ``name``, of a model or of its folder, tells; None if it tells none."""
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1].lower()
    plain = "".join(WORDS.findall(last))
    starts, ends = _edges(last)
    best: tuple[bool, int, str] | None = None
    for kind in known:
        wanted = "".join(WORDS.findall(kind.lower()))
        place = plain.find(wanted) if wanted else -1
        while place >= 0:
            at_word = place in starts and place + len(wanted) in ends
            if at_word or len(wanted) >= SHORTEST_INSIDE:
                found = (at_word, len(wanted), kind)
                best = found if best is None or found[:2] > best[:2] else best
            place = plain.find(wanted, place + 1)
    return None if best is None else best[2]


def _edges(text: str) -> tuple[set[int], set[int]]:
    """Where words of letters, or numbers, begin and end in ``text`` without what stands between them."""
    starts, ends, place = set(), set(), 0
    for word in WORDS.findall(text):
        starts.add(place)
        place += len(word)
        ends.add(place)
    return starts, ends
