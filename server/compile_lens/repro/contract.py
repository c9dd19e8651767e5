"""The contract of a repro file: its exit codes, its header, its environment, and the names that it defines.

A repro is one file of plain torch. Run as a script, it exits with a code of ``ExitCode``. Imported as a module, it does nothing and has

* ``make_target()``: builds what is compiled, with the same weights each time,
* ``make_calls()``: its inputs, a list of ``(args, kwargs)``, the same values each time,
* ``COMPILE_OPTIONS``: the keyword arguments of ``torch.compile`` besides the backend,
* ``main()``: judges, prints one sentence and returns the exit code. It can be called many times in one process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from compile_lens.shown_text import one_line, visible

# the backend of a repro; the default is that of the code from which it was made
BACKEND_VARIABLE = "TORCH_COMPILE_BACKEND"
# set to 1 to use the caches of the environment; otherwise a repro uses private ones and removes them at the end
KEEP_CACHE_VARIABLE = "TORCH_REPRO_KEEP_CACHE"
# torch's bisector (torch/_inductor/compiler_bisector.py, torch 2.6 to 2.13) keeps its state in the cache directory and is running if
# one of its variables is set or this file exists; then a repro keeps the cache directory, too
BISECT_STATE = "bisect/bisect_status.txt"
FIRST_LINE = "# A repro for torch.compile"

_FIELD = re.compile(r"# ([a-z][a-z -]*[a-z]):(?: +(.*))?$")
_CONTINUED = re.compile(r"#   +(\S.*)$")


class ExitCode(IntEnum):
    """How a repro ends. A signal counts as bad, too, if the criterion is ``crashes``."""

    GOOD = 0
    BAD = 1
    # eager fails, or another problem than that of the finding occurs
    CANNOT_JUDGE = 125


class Criterion(str, Enum):
    """What makes the compiled run bad, compared with the eager one."""

    RAISES = "raises"  # it raises this exception with a message that matches this pattern
    DIFFERS = "differs"  # its outputs or gradients are further from float64 than eager's, by torch's own tolerances
    BREAKS = "breaks"  # the graph breaks with this code at this line
    RECOMPILES = "recompiles"  # it recompiles because this guard fails
    CRASHES = "crashes"  # a signal ends the process
    ANY = "any"  # it raises or differs, while eager does not


class HeaderError(ValueError):
    """A file is not a repro; the text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Header:
    """The comment at the top of a repro. ``fields`` are in order; lines of one field are joined by newlines.

    Known fields: ``criterion``, ``kind`` (``source`` or ``graph``), ``finding``, ``expect``, ``from``, ``verified``, ``python``,
    ``torch``, ``run``, ``bisect``, ``minify``, ``logs``, ``note``.
    """

    criterion: Criterion
    fields: Mapping[str, str] = field(default_factory=dict)


def write_header(title: str, fields: Mapping[str, str]) -> str:
    """The header comment of a repro, ending in a newline. Fields without text are left out."""
    lines = [f"{FIRST_LINE}: {one_line(title)}", "#"]
    for name, text in fields.items():
        first, *more = visible(text).strip().splitlines() or [""]
        if first:
            lines.append(f"# {name}: {first}")
            lines += [f"#    {line}" for line in more if line.strip()]
    return "\n".join(lines) + "\n"


def parse_header(text: str) -> Header:
    """The header of a repro's text. Raises HeaderError."""
    fields = _fields(_comment(text))
    if not text.startswith(FIRST_LINE):
        raise HeaderError("This file is not a repro: its first line is not the header of one.")
    try:
        criterion = Criterion(fields["criterion"])
    except (KeyError, ValueError):
        known = ", ".join(criterion.value for criterion in Criterion)
        raise HeaderError(f"The repro's header has no line '# criterion: …' with one of {known}.") from None
    return Header(criterion, fields)


def _comment(text: str) -> Iterable[str]:
    for line in text.splitlines()[1:]:
        if not line.startswith("#"):
            return
        yield line


def _fields(lines: Iterable[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in lines:
        if found := _FIELD.match(line):
            name = found.group(1)
            fields[name] = found.group(2) or ""
        elif name and (more := _CONTINUED.match(line)):
            fields[name] = f"{fields[name]}\n{more.group(1)}"
        else:
            name = ""
    return fields
