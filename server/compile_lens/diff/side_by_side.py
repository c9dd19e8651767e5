"""Texts of two stages for an editor that compares them by itself: noise is spelled alike on both sides."""

from __future__ import annotations

from difflib import SequenceMatcher

from compile_lens.diff.stage_text import renumbered, without_noise


def spelled_alike(before: str, after: str) -> str:
    """``before``, with each line that says the same as one of ``after`` in its words. As many lines, in the same order."""
    clean = without_noise
    if clean(before) == clean(after):  # they differ in which values are used, if at all
        clean = renumbered
    old, new = before.split("\n"), after.split("\n")
    matcher = SequenceMatcher(None, clean(before).split("\n"), clean(after).split("\n"), autojunk=False)
    for first, second, length in matcher.get_matching_blocks():
        old[first : first + length] = new[second : second + length]
    return "\n".join(old)
