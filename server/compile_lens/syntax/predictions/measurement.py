"""The counts of right and wrong predictions of a rule in each part of the corpus (docs/predictions.md)."""

from __future__ import annotations

from msgspec import Struct


class Measurement(Struct, frozen=True):
    """Right and wrong predictions on our own programs, on installed code used for tuning, and on held-out code."""

    own_right: int = 0
    own_wrong: int = 0
    looked_at_right: int = 0
    looked_at_wrong: int = 0
    held_out_right: int = 0
    held_out_wrong: int = 0

    @property
    def own(self) -> tuple[int, int]:
        return self.own_right, self.own_wrong

    @property
    def looked_at(self) -> tuple[int, int]:
        return self.looked_at_right, self.looked_at_wrong

    @property
    def held_out(self) -> tuple[int, int]:
        return self.held_out_right, self.held_out_wrong

    @property
    def right(self) -> int:
        return self.own_right + self.looked_at_right + self.held_out_right

    @property
    def wrong(self) -> int:
        return self.own_wrong + self.looked_at_wrong + self.held_out_wrong

    @property
    def judged_in_real_code(self) -> int:
        return sum(self.looked_at) + sum(self.held_out)
