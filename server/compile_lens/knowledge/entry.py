"""The explanation of one name, and the kinds of names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class KnowledgeKind(str, Enum):
    """The kind of a name. The value is the name of its table and of its file of texts."""

    LOG = "log"
    ENVIRONMENT = "environment"
    OPTION = "option"
    ARGUMENT = "argument"
    MODE = "mode"
    BACKEND = "backend"
    FUNCTION = "function"
    CODE = "code"
    EXCEPTION = "exception"
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
        """The kind as users call it."""
        return _LABELS[self]


_LABELS = {
    KnowledgeKind.LOG: "log of `TORCH_LOGS`",
    KnowledgeKind.ENVIRONMENT: "environment variable",
    KnowledgeKind.OPTION: "option",
    KnowledgeKind.ARGUMENT: "argument of `torch.compile`",
    KnowledgeKind.MODE: "mode of `torch.compile`",
    KnowledgeKind.BACKEND: "backend of `torch.compile`",
    KnowledgeKind.FUNCTION: "function",
    KnowledgeKind.CODE: "graph break",
    KnowledgeKind.EXCEPTION: "exception",
    KnowledgeKind.OPERATOR: "operator",
    KnowledgeKind.IR: "Inductor class",
    KnowledgeKind.OPS: "operation of a loop body",
    KnowledgeKind.VIRTUALIZED: "global of Inductor",
    KnowledgeKind.VARIABLE: "Dynamo variable tracker",
    KnowledgeKind.GUARD: "guard",
    KnowledgeKind.FX: "FX graph",
    KnowledgeKind.TRITON: "Triton",
    KnowledgeKind.CODEGEN: "name in generated code",
    KnowledgeKind.ARTIFACT: "trace artifact",
    KnowledgeKind.FILE: "file of the debug directory",
    KnowledgeKind.BISECT: "step of the compiler bisector",
    KnowledgeKind.STAGE: "stage of the pipeline",
}


@dataclass(frozen=True, slots=True)
class TorchPlace:
    """A line of the installed torch. ``path`` is relative to the folder that contains ``torch``; ``label`` says what is there."""

    label: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class KnowledgeEntry:
    """An explanation. ``ours`` is text of Compile Lens, ``theirs`` is torch's, verbatim; either may be empty.

    ``facts`` are labels and values, read from torch's source. ``sample`` is recorded output, ``recorded`` the version that wrote it.
    ``versions`` says which releases have the name, as far as that is known.
    """

    kind: KnowledgeKind
    name: str
    ours: str = ""
    theirs: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    sample: str = ""
    recorded: str = ""
    related: tuple[str, ...] = ()
    stage: str = ""
    places: tuple[TorchPlace, ...] = ()
    versions: str = ""
    url: str = ""

    @property
    def full_name(self) -> str:
        """The name as users write it: ``TORCH_LOGS=fusion``, ``ops.load``."""
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
        """Whether there is more than a name and a place."""
        return bool(self.ours or self.theirs)


_PREFIXES = {KnowledgeKind.LOG: "TORCH_LOGS=", KnowledgeKind.OPS: "ops.", KnowledgeKind.VIRTUALIZED: "V."}
