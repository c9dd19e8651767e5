"""Words for numbers, the same in the terminal, the editor and the messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 graph``, ``2 graphs``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def and_more(left_out: int) -> str:
    """`` and 3 more``, after a list that leaves them out; '' if it leaves out none."""
    return f" and {left_out} more" if left_out > 0 else ""
