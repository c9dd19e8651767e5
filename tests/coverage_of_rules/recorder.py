"""What an instrumented copy of the product runs beside its own code: each of its modules executes this file.

Hits are bytes of a file that all processes map, also the forked and the sandboxed ones: 1 is run or tried, 2 is matched or used.
"""

import builtins
import mmap
import os
import re

RUN, USED = 1, 2


def hits():
    """The mapped file, opened once in a process: its forks share it."""
    if not hasattr(builtins, "_lens_hits"):
        descriptor = os.open(HITS, os.O_RDWR)  # noqa: F821 (set by what executes this file)
        builtins._lens_hits = mmap.mmap(descriptor, 0)
        os.close(descriptor)
    return builtins._lens_hits


class Pattern:
    """A compiled pattern that notes when it is tried, and when it matches."""

    def __init__(self, pattern, spot):
        self._pattern, self._spot = pattern, spot

    def __getattr__(self, name):
        return getattr(self._pattern, name)

    def _noted(self, found):
        known = hits()
        known[self._spot] = max(known[self._spot], USED if found else RUN)
        return found

    def match(self, *given):
        return self._noted(self._pattern.match(*given))

    def search(self, *given):
        return self._noted(self._pattern.search(*given))

    def fullmatch(self, *given):
        return self._noted(self._pattern.fullmatch(*given))

    def findall(self, *given):
        return self._noted(self._pattern.findall(*given))

    def split(self, *given, **named):
        found = self._pattern.split(*given, **named)
        self._noted(len(found) > 1)
        return found

    def finditer(self, *given):
        found = list(self._pattern.finditer(*given))
        self._noted(found)
        return iter(found)

    def subn(self, *given, **named):
        found = self._pattern.subn(*given, **named)
        self._noted(found[1])
        return found

    def sub(self, *given, **named):
        return self.subn(*given, **named)[0]


class Expressions:
    """The module ``re`` for one module, whose patterns are known by their text."""

    def __init__(self, spots):
        self._spots = spots

    def __getattr__(self, name):
        return getattr(re, name)

    def compile(self, text, flags=0):
        pattern = re.compile(text, flags)
        return Pattern(pattern, self._spots[text]) if text in self._spots else pattern

    def _one(self, pattern, flags):
        if isinstance(pattern, (Pattern, re.Pattern)):
            return pattern
        return self.compile(pattern, flags)

    def match(self, pattern, text, flags=0):
        return self._one(pattern, flags).match(text)

    def search(self, pattern, text, flags=0):
        return self._one(pattern, flags).search(text)

    def fullmatch(self, pattern, text, flags=0):
        return self._one(pattern, flags).fullmatch(text)

    def findall(self, pattern, text, flags=0):
        return self._one(pattern, flags).findall(text)

    def finditer(self, pattern, text, flags=0):
        return self._one(pattern, flags).finditer(text)

    def split(self, pattern, text, maxsplit=0, flags=0):
        return self._one(pattern, flags).split(text, maxsplit)

    def sub(self, pattern, repl, text, count=0, flags=0):
        return self._one(pattern, flags).sub(repl, text, count)


class Table(dict):
    """A table that notes which of its rows are looked up; one that is iterated over says nothing of its rows."""

    def __init__(self, spots, rows):
        super().__init__(rows)
        self._spots = spots

    def _note(self, key):
        try:
            spot = self._spots.get(key)
        except TypeError:
            return
        if spot is not None:
            hits()[spot] = USED

    def __getitem__(self, key):
        self._note(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self._note(key)
        return super().get(key, default)

    def __contains__(self, key):
        self._note(key)
        return super().__contains__(key)

    def _iterated(self):
        known = hits()
        for spot in self._spots.values():
            known[spot] = max(known[spot], RUN)

    def __iter__(self):
        self._iterated()
        return super().__iter__()

    def items(self):
        self._iterated()
        return super().items()

    def values(self):
        self._iterated()
        return super().values()

    def keys(self):
        self._iterated()
        return super().keys()
