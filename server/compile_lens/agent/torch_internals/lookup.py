"""A row of the tables in this room: where a private name of torch is, in which versions, and what is lost without it."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..runtime.degraded import degraded

Version = tuple[int, int]
OLDEST: Version = (2, 6)
_MISSING = object()


class MissingInternal(Exception):
    """This torch lacks a private name that cannot be done without; the message names it."""


@dataclass(frozen=True)
class Internal:
    """One private name of torch.

    ``path`` is ``package.module`` or ``package.module:name.of.it``. ``lost`` says what Compile Lens cannot do without it, as a noun phrase
    ("the region of each frame"). Without the name, a torch from ``since`` up to and including ``until`` is reported as degraded;
    others are known to lack it, and nothing is said. ``required``: a run is not possible without it. ``supplied``: it is put there where
    torch lacks it, so nothing is lost. ``cuda_only``: only builds with CUDA have it.
    """

    path: str
    lost: str
    since: Version = OLDEST
    until: Version | None = None
    required: bool = False
    supplied: bool = False
    cuda_only: bool = False

    @property
    def is_expected(self) -> bool:
        """Whether the installed torch is one of those that must have it."""
        version = torch_version()
        if self.supplied or (self.cuda_only and sys.modules["torch"].version.cuda is None):
            return False
        return self.since <= version and (self.until is None or version <= self.until)

    @property
    def is_imported(self) -> bool:
        """Whether its module was imported already: to look it up costs nothing then."""
        return self.path.partition(":")[0] in sys.modules

    @property
    def exists(self) -> bool:
        """Whether the installed torch has it."""
        return self._find() is not _MISSING

    def look_up(self) -> Any:
        """What it is in this torch, or None; nothing is reported."""
        found = self._find()
        return None if found is _MISSING else found

    def get(self, default: Any = None) -> Any:
        """What it is in this torch. Where it should be and is not, that is reported once, and ``default`` returned."""
        found = self._find()
        if found is not _MISSING:
            return found
        self.report_missing()
        return default

    def need(self) -> Any:
        """What it is in this torch. Raises MissingInternal."""
        found = self._find()
        if found is _MISSING:
            raise MissingInternal(f"torch {sys.modules['torch'].__version__} has no `{self.dotted}`")
        return found

    def set(self, value: Any) -> bool:
        """Put ``value`` in its place. False where this torch does not have it (reported)."""
        owner = self._owner()
        if owner is None or not hasattr(owner, self.name):
            self.report_missing()
            return False
        setattr(owner, self.name, value)
        return True

    def put(self, value: Any) -> bool:
        """Put ``value`` in its place, also where this torch has nothing there. False without the module or class (reported)."""
        owner = self._owner()
        if owner is None:
            self.report_missing()
            return False
        setattr(owner, self.name, value)
        return True

    def wrap(self, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> bool:
        """Replace a function by ``make(function)``. False where this torch does not have it (reported)."""
        original = self.get()
        return original is not None and self.set(functools.wraps(original)(make(original)))

    def report_missing(self) -> None:
        """Say what is lost, if this torch should have it."""
        if self.is_expected:
            degraded(self.lost, f"torch {sys.modules['torch'].__version__} has no `{self.dotted}`")

    @property
    def dotted(self) -> str:
        """Its name as people write it."""
        return self.path.replace(":", ".")

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.dotted.rpartition(".")[2]

    def _find(self) -> Any:
        owner = self._owner()
        if owner is None:
            return _MISSING
        return owner if ":" not in self.path else getattr(owner, self.name, _MISSING)

    def _owner(self) -> Any:
        """The object whose attribute it is; for a module, the module itself. None where that is missing."""
        module, _, inside = self.path.partition(":")
        try:
            owner: Any = importlib.import_module(module)
            for part in inside.split(".")[:-1]:
                owner = getattr(owner, part)
        except (ImportError, AttributeError):
            return None
        return owner


@functools.cache
def torch_version() -> Version:
    """Major and minor version of the installed torch."""
    major, minor = sys.modules["torch"].__version__.split(".")[:2]
    return int(major), int(minor)
