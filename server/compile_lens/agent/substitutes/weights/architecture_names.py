"""Guesses an architecture from a model name: ``google-bert/bert-base-uncased`` is a ``bert``.

``transformers`` does the same for configurations without a model type (configuration_auto.py, ``AutoConfig.from_pretrained``: the
longest known type that occurs anywhere in the name). Here a match on word boundaries comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WORDS = re.compile(r"[a-z]+|\d+")
SHORTEST_INSIDE = 5  # letters of a match inside a word; "opt" occurs in "adopted"


def architecture_of(name: str, known: Iterable[str]) -> str | None:
    """The one of ``known`` that ``name``, of a model or its folder, contains; None if there is none."""
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
    """Where words and numbers begin and end in ``text`` once separators are removed."""
    starts, ends, place = set(), set(), 0
    for word in WORDS.findall(text):
        starts.add(place)
        place += len(word)
        ends.add(place)
    return starts, ends
