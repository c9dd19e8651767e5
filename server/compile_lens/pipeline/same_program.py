"""Whether a saved file is still the program that was run last, so that its findings hold: only comments, docstrings or blank lines differ.

What a run depends on besides is compared, too: settings and entry, the modules that the file imports, the interpreter and its packages.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from compile_lens.analysis.outcome import Outcome
from compile_lens.documents.source_file import source_if_readable
from compile_lens.entries.entry import EntryChoice
from compile_lens.late_pattern import pattern
from compile_lens.pipeline.imported_files import Stamp, files_of, stamp
from compile_lens.pipeline.unreached_functions import without_unreached
from compile_lens.workers.interpreter import site_with_torch
from compile_lens.workers.job import Job

# longer texts take longer to compare than a run is worth
MOST_CHARACTERS = 400_000
# a program that asks for these sees its own comments, line numbers or docstrings
SEES_ITSELF = ("getsource", "linecache", "lineno", "tokenize", "__doc__", "doctest", "inspect")
# comments that Compile Lens reads
OURS = "compile-lens:"
LAYOUT = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.ENCODING})
# bytes and f-strings (which are strings to the tokenizer until Python 3.11) are computed; what follows a backslash may be no character
DOCSTRING = pattern(r"[rR][\"']|[uU]?[\"'][^\\]*\Z")
BLOCK = frozenset({tokenize.INDENT, tokenize.DEDENT})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything that decides what a run finds, but for the text of its file."""

    job: Job
    entries: tuple[str, ...]
    modules: tuple[tuple[str, Stamp | None], ...]
    packages: tuple[str, Stamp | None]


def surroundings_of(job: Job, choice: EntryChoice, python: str) -> Surroundings:
    """What the run of ``job`` in the interpreter ``python`` depends on, as it is on disk now."""
    file = Path(job.file)
    modules = tuple((str(part), stamp(part)) for part in files_of(file) if part != file)
    site = site_with_torch(Path(python))
    packages = (python, stamp(site) if site is not None else None)
    return Surroundings(replace(job, text=None), tuple(entry.spec for entry in choice.entries), modules, packages)


def without_untried(surroundings: Surroundings, outcome: Outcome) -> Surroundings:
    """What the run that ended with ``outcome`` depended on: an entry that nobody tried is no part of it. The run itself may have added
    one, with the calls that it recorded."""
    first = surroundings.entries[:1]
    return surroundings if outcome.passed_over or (outcome.entry,) != first else replace(surroundings, entries=first)


def is_same(before: Surroundings, now: Surroundings) -> bool:
    """Whether a run that depended on ``before`` would depend on the same now."""
    return replace(now, entries=now.entries[: len(before.entries)]) == before


def is_same_program(before: str, now: str) -> bool:
    """Whether two different texts are one program, to itself as well as to Compile Lens. An equal text is not asked about: who saves
    a file that has not changed wants it to run."""
    if before == now or max(len(before), len(now)) > MOST_CHARACTERS:
        return False
    if any(word in text for text in (before, now) for word in SEES_ITSELF):
        return False
    return _has_same_tokens(before, now)


def is_same_where_reached(before: str, now: str, imported: Iterable[Path]) -> bool:
    """Whether two texts of a script differ only where it cannot get, besides. ``imported`` are the files that it imports."""
    if before == now or max(len(before), len(now)) > MOST_CHARACTERS:
        return False
    if any(word in text for text in (before, now) for word in SEES_ITSELF):
        return False
    texts = [text for file in imported if (text := source_if_readable(str(file))) is not None]
    reached = without_unreached(before, now, texts)
    return reached is not None and _has_same_tokens(*reached)


def _has_same_tokens(before: str, now: str) -> bool:
    try:
        return list(_program(before)) == list(_program(now))
    except (tokenize.TokenError, SyntaxError, UnicodeError):
        # since Python 3.12, the tokenizer fails at half of a surrogate pair, and where an emoji follows a lone carriage return
        return False


def _program(text: str) -> Iterator[tuple[int, str]]:
    """The tokens that Python compiles, and the comments that Compile Lens reads; a docstring without its text."""
    held: tuple[int, str] | None = None
    begins_block = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in LAYOUT:
            if OURS in token.string:
                yield token.type, token.string
            continue
        if held is not None:
            yield held if token.type != tokenize.NEWLINE else (held[0], "")
            held = None
        if token.type == tokenize.STRING and begins_block and DOCSTRING.match(token.string):
            held = (token.type, token.string)
        else:
            yield token.type, "" if token.type in BLOCK or token.type == tokenize.NEWLINE else token.string
        begins_block = token.type == tokenize.INDENT
    if held is not None:
        yield held
