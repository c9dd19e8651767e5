"""One thing that can be explained."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(str, Enum):
    """What sort of thing an entry explains. The value is the name of its table and of its file of texts."""

    LOG = "log"
    ENVIRONMENT = "environment"
    OPTION = "option"
    ARGUMENT = "argument"
    MODE = "mode"
    BACKEND = "backend"
    FUNCTION = "function"
    CODE = "code"
    OPERATOR = "operator"
    IR = "ir"
    OPS = "ops"
    VIRTUALIZED = "virtualized"
    VARIABLE = "variable"
    GUARD = "guard"
    FX = "fx"
    TRITON = "triton"
    CODEGEN = "codegen"
    ARTIFACT = "artifact"
    FILE = "file"
    BISECT = "bisect"
    STAGE = "stage"

    @property
    def label(self) -> str:
        """What a reader calls it."""
        return _LABELS[self]


_LABELS = {
    Kind.LOG: "log of `TORCH_LOGS`",
    Kind.ENVIRONMENT: "environment variable",
    Kind.OPTION: "option",
    Kind.ARGUMENT: "argument of `torch.compile`",
    Kind.MODE: "mode of `torch.compile`",
    Kind.BACKEND: "backend of `torch.compile`",
    Kind.FUNCTION: "function",
    Kind.CODE: "graph break",
    Kind.OPERATOR: "operator",
    Kind.IR: "Inductor class",
    Kind.OPS: "operation of a loop body",
    Kind.VIRTUALIZED: "global of Inductor",
    Kind.VARIABLE: "Dynamo variable tracker",
    Kind.GUARD: "guard",
    Kind.FX: "FX graph",
    Kind.TRITON: "Triton",
    Kind.CODEGEN: "name in generated code",
    Kind.ARTIFACT: "trace artifact",
    Kind.FILE: "file of the debug directory",
    Kind.BISECT: "step of the compiler bisector",
    Kind.STAGE: "stage of the pipeline",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the installed torch. ``path`` is relative to the folder that holds ``torch``; ``label`` says what is there."""

    label: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Entry:
    """An explanation. ``ours`` is text of this project, ``theirs`` is torch's, word for word; either may be empty.

    ``facts`` are label and value, made from torch's source. ``sample`` is output that was recorded, ``recorded`` with what.
    ``versions`` says in which releases the thing is, as far as that is known.
    """

    kind: Kind
    name: str
    ours: str = ""
    theirs: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    sample: str = ""
    recorded: str = ""
    related: tuple[str, ...] = ()
    stage: str = ""
    places: tuple[Place, ...] = ()
    versions: str = ""
    url: str = ""

    @property
    def full_name(self) -> str:
        """The name as a user writes it: ``TORCH_LOGS=fusion``, ``ops.load``."""
        return f"{_PREFIXES.get(self.kind, '')}{self.name}"

    @property
    def summary(self) -> str:
        """The first sentence, on one line."""
        text = self.ours or self.theirs or "; ".join(f"{label}: {value}" for label, value in self.facts)
        paragraph = " ".join(text.strip().split("\n\n")[0].split())
        end = paragraph.find(". ")
        return paragraph if end < 0 else paragraph[: end + 1]

    @property
    def has_meaning(self) -> bool:
        """Whether there is more to say than a name and a place."""
        return bool(self.ours or self.theirs)


_PREFIXES = {Kind.LOG: "TORCH_LOGS=", Kind.OPS: "ops.", Kind.VIRTUALIZED: "V."}
