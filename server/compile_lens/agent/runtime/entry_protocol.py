"""What the agent says of an entry that is not a script: the calls that it made, what they ran, and what was done so that they could.

With the standard library alone, as protocol.py: the server loads it, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .message import AgentEvent, Message

# of a call that no inputs help: the end of its reason
UNDEFINED_NAME = "no call returns before the file defines it"
OTHER_VERSION = "no call returns with the installed version"
NOT_PASSED = "no call returns before the file passes it"
NEVER_SET = "no call returns before its class sets it"
NOT_IMPORTED = "no call returns before it can be imported"
# no inputs help where a reason ends so
NO_CALL_RETURNS = (UNDEFINED_NAME, OTHER_VERSION, NOT_PASSED, NEVER_SET, NOT_IMPORTED)
# of an abstract class: only a call of one that inherits from it does anything
LEFT_OPEN = "it leaves its work to subclasses, and no call of one was found"

# the texts of calls that a script makes of its model, and of functions of its project
MODEL_CALL, FUNCTION_CALL = "model", "function"


@dataclass(frozen=True)
class CallMade(Message):
    """A call that an entry makes: its text, how its object is made, and its inputs in words."""

    text: str
    making: str = ""
    inputs: str = ""
    target: str = ""


@dataclass(frozen=True)
class CallNotMade(Message):
    """A target for which no inputs were found. ``draft`` is a call of it with what is known, for the user to complete.

    ``line`` is that of the file in which the call failed, 0 where it is not known; ``involved`` are arguments that the failing
    lines name, ``beside`` the others of the draft, and ``said`` what the source says of each of both, '' where it says nothing.
    """

    target: str
    reason: str
    draft: str = ""
    line: int = 0
    involved: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class EntryCalled(AgentEvent):
    """What an entry calls, just before it does."""

    name: ClassVar[str] = "entry"
    calls: tuple[CallMade, ...] = ()
    failed: tuple[CallNotMade, ...] = ()


@dataclass(frozen=True)
class CallStopped(AgentEvent):
    """The compiled call of ``target`` was ended, since it took longer than what made it up allows."""

    name: ClassVar[str] = "call-stopped"
    target: str
    seconds: float


@dataclass(frozen=True)
class CallsCovered(AgentEvent):
    """What the calls of an entry have run so far: classes and functions of the file, and lines among those that can run."""

    name: ClassVar[str] = "covered"
    names: tuple[str, ...]
    ran: tuple[int, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True)
class ImportHelped(AgentEvent):
    """``folder`` was added to the import path for ``module``, which was not found; where it is '', a stub replaced it.

    ``why`` is what was raised, where the stub is of something that an installed library cannot give. It is told once more where a model
    inherits from the stub (``is_base``). A folder of another name that stands for the module itself has ``satisfied`` imports of the
    project. Where the name ``module`` was removed, ``instead`` is in its place. ``is_compiled``: it is the project's own, and lies in
    ``folder``, where that is installed.
    """

    name: ClassVar[str] = "import-helped"
    module: str
    folder: str = ""
    is_base: bool = False
    why: str = ""
    satisfied: int = 0
    instead: str = ""
    is_compiled: bool = False


@dataclass(frozen=True)
class ArgumentsMadeUp(AgentEvent):
    """Required arguments that nobody passed were made up."""

    name: ClassVar[str] = "arguments-made-up"
    names: tuple[str, ...]


@dataclass(frozen=True)
class StatementsSkipped(AgentEvent):
    """The lines of statements that failed, or needed what failed, after which the rest was run."""

    name: ClassVar[str] = "skipped"
    lines: tuple[int, ...]


@dataclass(frozen=True)
class WorkingFolderChosen(AgentEvent):
    """The script ran in ``folder``, where the file ``path`` is that it names; there is none of its files in the folder of the run."""

    name: ClassVar[str] = "working-folder"
    folder: str
    path: str


@dataclass(frozen=True)
class ModelAssumed(AgentEvent):
    """The class ``model`` of the file ``path`` is called for a script that constructs none that is known: it imports it, or has imported
    it from the module ``missing``, which is not there."""

    name: ClassVar[str] = "model-assumed"
    model: str
    path: str
    missing: str = ""


@dataclass(frozen=True)
class RunAsModule(AgentEvent):
    """The file was run as the module ``module`` of its package, with ``folder`` on the import path. ``failed`` is what the import of the
    package raised, which comes first; '' where it did not fail."""

    name: ClassVar[str] = "as-module"
    module: str
    folder: str
    failed: str = ""


@dataclass(frozen=True)
class EntryUnusable(AgentEvent):
    """The file cannot be run by this entry."""

    name: ClassVar[str] = "unusable"
    message: str
