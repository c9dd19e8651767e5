"""Regular expressions that are compiled when they are first used: a command loads two hundred and needs a few."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as pattern
else:

    class pattern:  # noqa: N801 - called as `re.compile` is
        """The part of what ``re.compile`` returns that is used here."""

        def __init__(self, text: str | bytes, flags: int = 0) -> None:
            self.pattern = text
            self._given = flags

        def __getattr__(self, name: str) -> Any:
            """Compile it. From then on, each method is found as that of an object of ``re`` is."""
            if name.startswith("__"):  # `copy` and others ask for what is not there
                raise AttributeError(name)
            compiled = re.compile(self.pattern, self._given)
            for method in ("match", "search", "fullmatch", "finditer", "findall", "split", "sub", "subn"):
                setattr(self, method, getattr(compiled, method))
            return getattr(compiled, name)


__all__ = ["pattern"]
