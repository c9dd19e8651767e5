"""How a file is run that is not run as a script: what the server asks for, and agent/inputs/dispatch.py does.

With the standard library alone, as protocol.py: the server loads it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from .message import Message, Variant


@dataclass(frozen=True)
class CompileAt(Message):
    """What an entry calls is compiled as if this line of the file did."""

    line: int = 1
    fullgraph: bool = False


@dataclass(frozen=True)
class CallTarget(Message):
    """A class or function that is called with synthesized inputs.

    ``given`` are constructor arguments from a call site, ``inputs`` arguments from an earlier run, both as text. ``compile`` is None where
    the file compiles it itself. ``only_module``: it is left out if its class turns out to be no module that can be called;
    ``only_plain``: if its class turns out to be a module. ``builds``: it is a function, and the model that it returns is what is called.
    """

    name: str
    compile: CompileAt | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    only_module: bool = False
    only_plain: bool = False
    builds: bool = False


@dataclass(frozen=True)
class CallTime(Message):
    """How long models are called that a program was seen to use: no further one when those after the first have taken ``seconds`` of
    processor time, or after ``clock_seconds`` of the run."""

    seconds: float = 18.0
    clock_seconds: float = 84.0


@dataclass(frozen=True)
class EntryPlan(Variant):
    """How a file is run."""

    TAG: ClassVar[str] = "kind"


@dataclass(frozen=True)
class ExampleInputs(EntryPlan):
    """Call ``target`` with the inputs that the file gives as ``source``: the name of a function, method or variable."""

    name: ClassVar[str] = "inputs"
    source: str
    target: str
    compile: CompileAt | None = None


@dataclass(frozen=True)
class ImportingTest(EntryPlan):
    """Run one test that imports the file: ``path::name``."""

    name: ClassVar[str] = "test"
    node: str


@dataclass(frozen=True)
class ImportingScript(EntryPlan):
    """Run a script that imports the file."""

    name: ClassVar[str] = "file"
    path: str


@dataclass(frozen=True)
class SynthesizedCalls(EntryPlan):
    """Find calls for ``targets`` within ``seconds`` of processor time and most of ``memory_bytes`` (0: no limit), and make them, within
    ``clock_seconds`` if that is not 0.

    ``apart``: nothing in the file says that one process calls them all. A target is then skipped if an earlier call has run it.
    """

    name: ClassVar[str] = "synthesized"
    targets: tuple[CallTarget, ...]
    apart: bool = False
    seconds: float = 0.0
    clock_seconds: float = 0.0
    memory_bytes: int = 0


@dataclass(frozen=True)
class DoctestExamples(EntryPlan):
    """Run the examples in the docstring of ``owner``, '' for the module's. With ``compile``, they see it compiled; then those of ``rest``
    that they leave out."""

    name: ClassVar[str] = "doctest"
    owner: str
    compile: CompileAt | None = None
    rest: SynthesizedCalls | None = None


@dataclass(frozen=True)
class UsingTest(EntryPlan):
    """Run the test ``node`` for ``seconds`` at most, and make its calls of ``targets`` again, compiled; then those of ``rest`` that it
    leaves out."""

    name: ClassVar[str] = "using-test"
    node: str
    targets: tuple[CallTarget, ...]
    seconds: float = 15.0
    time: CallTime = CallTime()
    rest: SynthesizedCalls | None = None


@dataclass(frozen=True)
class UsingScript(EntryPlan):
    """Run the script ``path`` for ``seconds`` at most, within most of ``memory_bytes`` (0: no limit), and make its calls of ``targets``
    again, compiled; then those of ``rest`` that it leaves out."""

    name: ClassVar[str] = "using-script"
    path: str
    targets: tuple[CallTarget, ...]
    seconds: float = 15.0
    time: CallTime = CallTime()
    rest: SynthesizedCalls | None = None
    memory_bytes: int = 0


@dataclass(frozen=True)
class WrittenCall(EntryPlan):
    """Make the call that the user wrote."""

    name: ClassVar[str] = "call"
    text: str
    compile: CompileAt | None = None


@dataclass(frozen=True)
class ModelOfScript(EntryPlan):
    """Run the script for ``seconds`` at most, within most of ``memory_bytes`` (0: no limit), and call its models, compiled."""

    name: ClassVar[str] = "model"
    seconds: float = 15.0
    time: CallTime = CallTime()
    memory_bytes: int = 0


@dataclass(frozen=True)
class DocumentedExample(EntryPlan):
    """Run ``text``, an example of the documentation ``page``, and call its model as if it were compiled in ``line`` of the file, and its
    other models of the file; then those of ``rest`` that it leaves out."""

    name: ClassVar[str] = "example"
    text: str
    page: str
    line: int
    seconds: float = 15.0
    time: CallTime = CallTime()
    rest: SynthesizedCalls | None = None


def is_searched(plan: EntryPlan | None) -> bool:
    """Whether what a plan calls is searched for in copies of the process."""
    kinds = (SynthesizedCalls, ModelOfScript, DocumentedExample, UsingTest, UsingScript)
    return isinstance(plan, kinds) or (isinstance(plan, DoctestExamples) and plan.compile is not None)
