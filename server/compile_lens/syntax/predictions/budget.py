"""How much of a file is walked at most: a text takes no more time than its length allows."""

from __future__ import annotations

# statements walked for all regions of a file
_MAX_STATEMENTS = 40_000
# expressions evaluated, and names copied or merged where branches part and meet: over fifty times what the largest files of torch take
_MAX_STEPS = 100_000


class WalkBudget:
    """What is left for all regions of one file."""

    def __init__(self, statements: int = _MAX_STATEMENTS, steps: int = _MAX_STEPS) -> None:
        self._statements = statements
        self._steps = steps

    def take_statement(self) -> bool:
        """Whether one more statement may be walked."""
        self._statements -= 1
        return self._statements >= 0 and self._steps >= 0

    def take(self, steps: int = 1) -> bool:
        """Whether these many more steps may be taken."""
        self._steps -= steps
        return self._steps >= 0
