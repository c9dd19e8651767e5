"""Writes the sentence of a compile error, and the actions that torch's own text suggests."""

from __future__ import annotations

import re

from compile_lens.agent.runtime.torchscript_errors import reason_of
from compile_lens.analysis.break_titles import own_title
from compile_lens.analysis.error_stages import (
    BACKEND,
    CONSTRAINT,
    CPP,
    DATA_DEPENDENT,
    ERROR_ON_BREAK,
    EXPORT,
    EXPORT_CALL,
    FAKE,
    FULLGRAPH,
    NAMED,
    PACKAGE_CALL,
    Triage,
)
from compile_lens.analysis.guard_sources import plain_source
from compile_lens.late_pattern import pattern
from compile_lens.trace.break_text import parse_reason
from compile_lens.trace.failure_text import own_words_of

# the repr of an exception with one text argument
QUOTED_ERROR = pattern(r"^(?P<type>\w+)\((?P<quote>['\"])(?P<message>.*)(?P=quote)\)$", re.DOTALL)
UNEVALUATED = pattern(r"data-dependent expression (?P<expression>.{1,2000}?) \(unhinted: ", re.DOTALL)
VIOLATION = pattern(r"^  - (?P<sentence>.+?)(?:\. |\.?$)", re.MULTILINE)
FIXES = pattern(r"^Suggested fixes:\n(?P<fixes>(?:  .+\n?)+)", re.MULTILINE)
CHECK = pattern(r"^[ \t]*\d+\. (?P<check>torch\._check\(.*\))", re.MULTILINE)
CPP_ERROR = pattern(r"(?:fatal )?error: (?P<error>.+)")
# torch's titles of these breaks name no cause: "Backend compiler exception", "Observed exception"
WITHOUT_CAUSE = frozenset({"GB0219", "GB0088"})
# torch and the compilers that it calls write to the caches (errno ENOSPC and EDQUOT)
NO_SPACE = pattern(r"No space left on device|Disk quota exceeded")
MAKE_ROOM = (
    "Free disk space, for example with `compile-lens cache clear`, or set COMPILE_LENS_CACHE_DIR to another folder."
)
# the dispatcher explains what a backend is, and lists all of them
DISPATCHER = pattern(r"(?<=backend\.) This could be because the operator doesn't exist for this backend.*")
# a heading says nothing by itself
HEADING = "C++ compile error"

VERB = {EXPORT_CALL: "torch.export failed", PACKAGE_CALL: "AOTInductor failed"}


def sentence(type_name: str, message: str, found: Triage, call: str = "") -> str:
    """One sentence: what failed, and why, in torch's words where they are short."""
    verb = VERB.get(call, "torch.compile failed")
    return f"{verb}: {_why(type_name, own_words_of(message), found)}."


def _why(type_name: str, words: str, found: Triage) -> str:
    if full := NO_SPACE.search(words):
        return f"the disk for compiled code is full ({full[0]})"
    reason = parse_reason(words)
    if found.code == FULLGRAPH.code:
        setting = "error_on_graph_break(True)" if found is ERROR_ON_BREAK else "fullgraph=True"
        title = own_title(reason) if reason.code in WITHOUT_CAUSE else None
        return f"{title or _title(words, type_name)}; `{setting}` does not allow a graph break"
    if found.code == FAKE.code and (error := _innermost(reason.explanation)):
        return error
    if found.code == DATA_DEPENDENT.code and (match := UNEVALUATED.search(words)) is not None:
        return f"whether `{match['expression']}` holds depends on tensor values"
    if found.code == CONSTRAINT.code and (match := VIOLATION.search(words)) is not None:
        return plain_source(match["sentence"])
    if found.code == CPP.code and HEADING in words and (match := CPP_ERROR.search(words)) is not None:
        return f"the C++ compiler reports: {match['error'].rstrip('.')}"
    title = _title(words, type_name)
    if found.code == EXPORT.code and not reason.explanation and not NAMED.match(title):
        return f"{type_name}: {title}" if title != type_name else title
    return title


def _title(words: str, type_name: str) -> str:
    reason = parse_reason(words)
    if reason.explanation:
        return reason.title.rstrip(".:")
    wrapped = BACKEND.match(words)
    text = words[wrapped.end() :] if wrapped else words
    title = first_words(text).rstrip(".:") or type_name
    return f"backend `{wrapped['backend']}` raised {title}" if wrapped else title


def first_words(text: str) -> str:
    """The first line that is not empty; with the next one where it is a heading ("Error(s) in loading state_dict for Net:")."""
    lines = [line.strip() for line in reason_of(text).splitlines() if line.strip()]
    return DISPATCHER.sub("", " ".join(lines[: 2 if lines[0].endswith(":") else 1])) if lines else ""


def _innermost(explanation: str) -> str:
    """The error of the operator itself, out of Dynamo's sentence around it (torch/_dynamo/utils.py, ``get_fake_value``)."""
    _, found, error = explanation.partition("got ")
    if not found:
        return ""
    quoted = QUOTED_ERROR.match(error.strip())
    return (f"{quoted['type']}: {quoted['message']}" if quoted else error).strip().rstrip(".")


def suggestions(message: str) -> tuple[str, ...]:
    """The fixes that torch works out: checks to insert (unbacked symbols), constraints to change (export)."""
    fixes = FIXES.search(message)
    lines = [line.strip() for line in fixes["fixes"].splitlines() if line.strip()] if fixes else []
    return (
        *(f"Insert `{match['check']}` before this line (suggested by torch)." for match in CHECK.finditer(message)),
        *(f"Use `{line}` in the dynamic shapes (suggested by torch)." for line in lines),
    )
