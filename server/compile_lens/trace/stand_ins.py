"""What the agent used in the place of something that this machine does not have, part of the report of a run."""

from __future__ import annotations

from msgspec import Struct

from compile_lens.trace.stack_frame import StackFrame


class StandIn(Struct, frozen=True):
    """A substitute for something of another machine. ``what`` is the agent's word for it (agent/substitutes), ``text`` what it adds;
    ``stack`` leads to the line that used it, and may be empty."""

    what: str
    text: str
    stack: tuple[StackFrame, ...]


class MissingResource(Struct, frozen=True):
    """Something that a program loads, and that was replaced because it is missing. ``what`` is ``weights``, ``configuration``,
    ``tokenizer`` or ``checkpoint``; ``name`` the program's for it, ``replacement`` the class in its place, ``why`` the library's message.

    ``configuration`` is the class of the one that it was made from, ``origin`` where that is from: ``given``, ``file``, ``class`` (its
    defaults) or ``name`` (defaults of the class inferred from the name); ``constructor`` if there is none. ``changes`` made it smaller:
    name, value before, value now.
    """

    what: str
    name: str
    replacement: str
    why: str
    stack: tuple[StackFrame, ...]
    configuration: str = ""
    origin: str = ""
    changes: tuple[tuple[str, int, int], ...] = ()
