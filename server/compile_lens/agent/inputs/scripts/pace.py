"""Says when a loop of a program has shown how it calls its models: what follows the loop may call them in other ways.

A training takes longer than we wait for it. The evaluation after it, without gradients, with other sizes, or of another model, would
never be seen if each loop turned as often as the program says.
"""

from __future__ import annotations

from dataclasses import dataclass

# a loop is left after so many turns at least, of which the last ones had only calls that tell nothing new
LEAST_TURNS, ALIKE_TURNS = 3, 2


@dataclass
class Loop:
    """One execution of a loop: how often it has turned, and how many of the last turns were alike. ``known`` and ``new`` are the counts of
    calls at its last turn."""

    known: int
    new: int
    turns: int = 0
    alike: int = 0


class Pace:
    """Counts the calls of a program's models. ``has_left`` is whether a loop was left before its end: what fails after that may fail
    for it, and is no failure of the program's."""

    def __init__(self) -> None:
        self._known = 0
        self._new = 0
        self.has_left = False

    def called(self, is_new: bool) -> None:
        """A model was called; ``is_new``: in a way that is not known yet, or when there is still time for all turns."""
        if is_new:
            self._new += 1
        else:
            self._known += 1

    def begin(self) -> Loop:
        """A loop begins."""
        return Loop(self._known, self._new)

    def is_enough(self, loop: Loop) -> bool:
        """Whether ``loop``, at the end of a turn, is to be left."""
        is_alike = self._known > loop.known and self._new == loop.new
        loop.turns += 1
        loop.alike = loop.alike + 1 if is_alike else 0
        loop.known, loop.new = self._known, self._new
        if loop.turns < LEAST_TURNS or loop.alike < ALIKE_TURNS:
            return False
        self.has_left = True
        return True
