"""What a guard says, in plain terms: of which value, what about it, and what it was before and after."""

from __future__ import annotations

from typing import ClassVar

from compile_lens.analysis.guard_sources import GuardedValue, guarded_value
from compile_lens.late_pattern import pattern
from compile_lens.trace.partly_compared import PartlyCompared
from compile_lens.trace.report import GuardFailure

ATTRIBUTE = "attribute "
NUMBER_OF = "the number of "
OF_MODULES = {"_modules": "submodules", "_parameters": "parameters", "_buffers": "buffers"}


class GuardFact(PartlyCompared, frozen=True, eq=False):
    """One guard in plain terms.

    ``name`` is the guarded expression as the user writes it (``x``, ``self.calls``), or ''. ``what`` is its property that changed
    (``size``, ``dtype``, ``value``), ``dimension`` that of a size or stride. ``before`` and ``after`` are '' where torch does not say.
    ``event`` is what happened to it, where "… changed" does not say it. ``subject`` names it in a sentence.
    ``expected`` is what the guard wants, to compare it with other versions'; '' if it cannot be compared. ``stated`` is the guard of a
    version that states it.
    """

    NOT_COMPARED: ClassVar[frozenset[str]] = frozenset({"stated"})

    name: str
    what: str
    before: str = ""
    after: str = ""
    dimension: int | None = None
    event: str = ""
    subject: str = ""
    expected: str = ""
    stated: GuardFailure | None = None

    @property
    def key(self) -> tuple[str, str, str, int | None]:
        """What is guarded, whatever its value."""
        return self.name, self.subject, self.what, self.dimension

    @property
    def reading(self) -> str:
        """What the user writes to read it: ``state.step`` where ``state`` has an attribute of its own now."""
        return f"{self.name}.{self.what.removeprefix(ATTRIBUTE)}" if self.what.startswith(ATTRIBUTE) else self.name

    @property
    def root(self) -> str:
        """The variable that the expression starts from: ``self`` of ``self.calls``."""
        match = ROOT.match(self.name)
        return match[0] if match else ""

    @property
    def expressions(self) -> tuple[str, ...]:
        """``name`` and what it is part of, longest first: ``self.dropout.training``, ``self.dropout``; the variable alone is ``root``."""
        found = []
        name = self.reading
        while LAST_STEP.search(name):
            found.append(name)
            name = LAST_STEP.sub("", name)
        return tuple(found) or (self.name,)


ROOT = pattern(r"[A-Za-z_]\w*")
# the last attribute or subscript of an expression
LAST_STEP = pattern(r"(?:\.\w+|\[[^\[\]]*\])$")


def fact_of_value(value: GuardedValue, before: str) -> GuardFact:
    """``value`` was ``before``."""
    subject = "" if value.words == f"`{value.expression}`" else value.words
    return GuardFact(value.expression, value.what or "value", before=before, dimension=value.dimension, subject=subject)


def fact_about(
    source: str, what: str, before: str = "", after: str = "", event: str = "", expected: str = ""
) -> GuardFact:
    """The property ``what`` of the value that torch calls ``source``."""
    value = guarded_value(source.strip())
    subject = "" if value.words == f"`{value.expression}`" else named_value(value)
    return GuardFact(value.expression, what, before, after, event=event, subject=subject, expected=expected)


def fact_of_length(source: str, before: str, expected: str) -> GuardFact:
    """What torch calls ``source`` had ``before`` items; a table of nn.Module's is told as what it has."""
    owner, _, table = source.strip().rpartition(".")
    items = OF_MODULES.get(table)
    if items is None or not owner:
        return fact_about(source, "length", before=before, expected=expected)
    value = guarded_value(owner)
    return GuardFact(
        value.expression, "length", before, subject=f"{NUMBER_OF}{items} of {value.words}", expected=expected
    )


def named_value(value: GuardedValue) -> str:
    """``size 0 of `x` ``."""
    return f"{value.what} {value.dimension} of {value.words}" if value.dimension is not None else value.words
