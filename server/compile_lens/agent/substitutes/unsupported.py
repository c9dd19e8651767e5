"""Notes what cannot be replaced with the installed torch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .cuda.native import EmulationUnsupported
from .notes import StandInNotes


@contextlib.contextmanager
def unsupported_is_noted(notes: StandInNotes) -> Iterator[None]:
    """Note what cannot be emulated with this torch; the program then runs as it does on this machine."""
    try:
        yield
    except EmulationUnsupported as problem:
        notes.add("unsupported", str(problem))
    except Exception as problem:  # an unknown torch may raise anything; the note says what
        notes.add("unsupported", f"the internals of this torch are not supported ({type(problem).__name__}: {problem})")
