"""What an outcome says besides findings: data alone, so that an outcome which was kept opens without the modules that make it."""

from __future__ import annotations

from msgspec import Struct

from compile_lens.analysis.finding import Place
from compile_lens.wording import counted

LONGEST_LINE = 100


def what_failed(
    line: int, text: str, involved: tuple[str, ...], beside: tuple[str, ...] = (), said: tuple[str, ...] = ()
) -> str:
    """ "It fails at line 9 (`return x.sum(dim)`): change `dim`. Check `x` (`[B, T]`), too."; '' where nothing is known.

    ``said`` is what the source says of each of ``involved`` and then of ``beside``.
    """
    known = dict(zip((*involved, *beside), said, strict=False))
    named = {name: f"`{name}`{f' ({words})' if words else ''}" for name, words in known.items()}
    text = text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"
    change = " or ".join(named.get(name, f"`{name}`") for name in involved)
    others = ", ".join(named.get(name, f"`{name}`") for name in beside)
    sentences = [f"Change {change}."] if change else []
    if text:
        sentences = [f"It fails at line {line} (`{text}`){f': change {change}' if change else ''}."]
    if others:
        sentences.append(f"Check {others}{', too' if change else ''}.")
    return " ".join(sentences)


class NotCalled(Struct, frozen=True):
    """A target that was not called, and why. ``draft`` is a call of it with what is known, for the user to complete.

    ``line`` is where the call failed, 0 where that is not known; ``involved`` are arguments that the failing lines name, ``beside`` the
    others of the draft, and ``said`` what the source says of each of both.
    """

    target: str
    reason: str
    draft: str = ""
    line: int = 0
    involved: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


class Unit(Struct, frozen=True):
    """A class or function of the file. ``reason`` says why it was not analyzed, '' if it was.

    ``draft`` is a call of it to complete: one like it failed at ``failed_line``, whose source is ``failed_text``, because of one of the
    arguments ``involved``. ``beside`` are its other arguments, and ``said`` is what the source says of each of both. ``rank`` is its place
    among all that the file is about, 0 for the first.
    """

    name: str
    line: int
    is_module: bool
    reason: str = ""
    draft: str = ""
    failed_line: int = 0
    failed_text: str = ""
    involved: tuple[str, ...] = ()
    rank: int = 0
    beside: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def what_failed(self) -> str:
        """Where a call like the draft failed, and what to change."""
        return what_failed(self.failed_line, self.failed_text, self.involved, self.beside, self.said)

    @property
    def is_analyzed(self) -> bool:
        """Whether a call has run it."""
        return not self.reason


class Coverage(Struct, frozen=True):
    """``units`` in the order of the file; of their ``lines`` that can run, ``ran`` did."""

    units: tuple[Unit, ...]
    ran: int
    lines: int

    @property
    def is_whole(self) -> bool:
        """Whether what is said holds for all of the file."""
        return self.ran == self.lines and all(unit.is_analyzed for unit in self.units)

    @property
    def missing(self) -> tuple[Unit, ...]:
        """What was not analyzed: what the file is about first."""
        return tuple(sorted((u for u in self.units if not u.is_analyzed), key=lambda unit: unit.rank))

    @property
    def percent(self) -> int:
        """The share of lines; 100 only for all of them."""
        return 100 * self.ran // self.lines if self.lines else 0

    @property
    def sentence(self) -> str:
        """``3 of 8 modules, 64% of their lines``."""
        parts = [
            f"{sum(u.is_analyzed for u in some)} of {counted(len(some), what)}"
            for what, some in (
                ("module", [u for u in self.units if u.is_module]),
                ("function", [u for u in self.units if not u.is_module]),
            )
            if some
        ]
        whose = "its" if len(self.units) == 1 else "their"
        return f"{' and '.join(parts)}, {self.percent}% of {whose} lines"


class DynamicParameter(Struct, frozen=True):
    """A parameter, at its name: ``dimensions`` of it are dynamic, or, when there are none, its value."""

    place: Place
    dimensions: tuple[int, ...] = ()


class RecordedCall(Struct, frozen=True):
    """A call of the function ``name`` of ``file``. ``inputs`` are pairs of a parameter and an expression
    (agent/inputs/calling/expressions.py)."""

    file: str
    name: str
    inputs: tuple[tuple[str, str], ...]


class ComparedGraphs(Struct, frozen=True):
    """How many graphs were compared with eager, by their worst call: bitwise equal, within rounding, wrong, not compared."""

    bitwise: int = 0
    rounding: int = 0
    wrong: int = 0
    not_compared: int = 0


class CompiledFunction(Struct, frozen=True):
    """All compilations of one function, of its resume functions, too. ``ops`` are those of Dynamo's graphs; ``kernels`` are names
    without numbers, empty where the run did not come to Inductor."""

    file: str
    name: str
    line: int
    graphs: int
    ops: int
    kernels: tuple[str, ...] = ()
