"""A way to run a file: how users write it, where it was found, and what the agent does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from compile_lens.agent.runtime.entry_plans import (
    DocumentedExample,
    EntryPlan,
    ImportingScript,
    ImportingTest,
    ModelOfScript,
    UsingScript,
    UsingTest,
)

SCRIPT = "script"
SYNTHESIZED = "synthesized"
RECORDED = "recorded"
MODEL = "model"
AUTOMATIC = "auto"
# completes "Analyzed with" where a script builds no model
CALLED_FUNCTIONS = "functions that the script calls, as if they were compiled"
# the earlier spelling, which users may have written down
_OLD_SYNTHESIZED = "synthesised"


class EntryKind(str, Enum):
    """The kinds of entries."""

    SCRIPT = "script"
    INPUTS = "inputs"
    DOCTEST = "doctest"
    TEST = "test"
    FILE = "file"
    CALL = "call"
    RECORDED = "recorded"
    MODEL = "model"
    EXAMPLE = "example"
    SYNTHESIZED = "synthesized"


@dataclass(frozen=True, slots=True)
class Entry:
    """One way to run a file.

    ``spec`` is how users write it (``--entry``, the setting, the comment). ``origin`` says where it was found.
    ``line`` is its line in the file, 0 if it is elsewhere. ``plan`` is what the agent gets, None for the script.
    """

    kind: EntryKind
    spec: str
    origin: str
    line: int = 0
    plan: EntryPlan | None = None

    @property
    def title(self) -> str:
        """A phrase that completes "Analyzed with"."""
        if self.kind is EntryKind.SCRIPT:
            return "the file as a script"
        if self.kind is EntryKind.INPUTS:
            return f"`{self.spec}`" if self.spec == "example_inputs" else f"`{self.spec}()`"
        if self.kind is EntryKind.DOCTEST:
            return f"the doctest of `{self.spec.partition(':')[2] or 'the module'}`"
        if self.kind is EntryKind.RECORDED:
            return "recorded inputs"
        if self.kind is EntryKind.MODEL:
            return "the model that the script builds"
        if self.kind is EntryKind.EXAMPLE:
            return f"the example in `{self.spec.partition(':')[2]}`"
        if self.kind is EntryKind.SYNTHESIZED:
            return "synthesized inputs"
        return f"`{self.spec}`"


@dataclass(frozen=True, slots=True)
class EntryChoice:
    """The entries to try, in their order. ``is_explicit``: the user, or a file that ``said_by``
    describes, named the one that there is."""

    entries: tuple[Entry, ...]
    is_explicit: bool = False
    said_by: str = ""


def script(origin: str = "run like `python FILE`") -> Entry:
    """The entry that runs the file as a script."""
    return Entry(EntryKind.SCRIPT, SCRIPT, origin)


def model_of_script(origin: str = "what the script calls or trains") -> Entry:
    """The entry that runs the script as far as it goes, and compiles the model that it makes."""
    return Entry(EntryKind.MODEL, MODEL, origin, 0, ModelOfScript())


def canonical_spec(spec: str) -> str:
    """``spec`` without surrounding spaces and in today's spelling."""
    spec = spec.strip()
    kind, colon, name = spec.partition(":")
    return f"{SYNTHESIZED}{colon}{name}" if kind == _OLD_SYNTHESIZED else spec


def other_file(entry: Entry) -> str | None:
    """The absolute path of the file that ``entry`` runs in the place of its own, or takes its code from."""
    match entry.plan:
        case ImportingScript(path=path) | UsingScript(path=path) | DocumentedExample(page=path):
            return path
        case ImportingTest(node=node) | UsingTest(node=node):
            return node.partition("::")[0]
    return None
