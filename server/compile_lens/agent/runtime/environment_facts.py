"""Defines what the agent tells the doctor of an interpreter; both sides load this file.

A section whose ``error`` is not '' could not be asked for: the other fields say nothing then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .message import Message, from_json


@dataclass(frozen=True)
class PythonFacts(Message):
    version: str
    executable: str
    free_threaded: bool


@dataclass(frozen=True)
class TorchFacts(Message):
    """``missing``: it is not installed, which is the error."""

    version: str = ""
    folder: str = ""
    missing: bool = False
    error: str = ""


@dataclass(frozen=True)
class DynamoFacts(Message):
    """Without an error it supports this Python."""

    error: str = ""


@dataclass(frozen=True)
class InternalsFacts(Message):
    """How many private names of torch are declared for this version; ``missing`` are those it lacks, and what is lost without each."""

    declared: int = 0
    missing: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class TritonFacts(Message):
    version: str = ""
    error: str = ""


@dataclass(frozen=True)
class GpuFacts(Message):
    """``built_for`` is torch's build (``CUDA 13.0``), None for the CPU; ``usable``: torch says that a GPU is available."""

    built_for: str | None = None
    names: tuple[str, ...] = ()
    usable: bool = False
    error: str = ""


@dataclass(frozen=True)
class CompilerFacts(Message):
    """The C++ compiler that Inductor would take. ``builds`` a library with OpenMP; None where it is not tried, ``problem`` why not."""

    command: str = ""
    path: str | None = None
    version: str = ""
    builds: bool | None = None
    problem: str = ""
    error: str = ""


@dataclass(frozen=True)
class UsersCacheFacts(Message):
    """Inductor's cache of this user's own runs, and what a bisection has left there."""

    folder: str = ""
    bisect_status: str | None = None
    error: str = ""


@dataclass(frozen=True)
class SandboxFacts(Message):
    """``open_ends`` are not confined, as noun phrases; ``reason`` is why the kind is not a stronger one."""

    kind: str = ""
    reason: str = ""
    open_ends: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class EnvironmentFacts(Message):
    """Everything; ``environment`` are the variables that change how torch compiles. Without torch the last six say nothing."""

    python: PythonFacts
    environment: Mapping[str, str]
    sandbox: SandboxFacts
    torch: TorchFacts
    dynamo: DynamoFacts = field(default_factory=DynamoFacts)
    torch_internals: InternalsFacts = field(default_factory=InternalsFacts)
    triton: TritonFacts = field(default_factory=TritonFacts)
    gpu: GpuFacts = field(default_factory=GpuFacts)
    compiler: CompilerFacts = field(default_factory=CompilerFacts)
    users_cache: UsersCacheFacts = field(default_factory=UsersCacheFacts)


def environment_facts(text: str | bytes) -> EnvironmentFacts | None:
    """What the agent printed; None where it is anything else."""
    return from_json(EnvironmentFacts, text)
