"""Removes from a stage's text what says nothing about the program: numbers of nodes and buffers, ids, addresses, hashes, paths.

Two lines are the same if they are the same without it. What only differs in which of several like-named values is used would be lost by
that, so texts whose lines are the same are also compared with their names numbered anew (``renumbered``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import SequenceMatcher

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
# of code in torch's caches (base32 of SHA-256), and of files
_HASH = re.compile(r"\b(?:[a-z2-7]{51,53}|[0-9a-f]{32}|[0-9A-Fa-f]{64}|[0-9A-F]{64})\b")
# of objects in guards; the largest integers are bounds
_OBJECT_ID = re.compile(r"(?<![\w.])(?!9223372036854775807\b)\d{12,}\b")
_CHECKED_ID = re.compile(r"(___check_(?:obj|type)_id\(.*?), (?:\d+|id)\)")
_MODULE_FILE = re.compile(r"(<module '[\w.]+' from) '[^']*'")
# of tensors that guards print
_VALUES = re.compile(r"^[ \t]*(?:tensor\()?\[[-+\d.,e\s\[\]]+\)?,?$", re.MULTILINE)
_AOT_ID = re.compile(r"^# AOT ID: .*$", re.MULTILINE)
_LATENCY = re.compile(r"^Guard latency = .*$", re.MULTILINE)
# which call of a kernel in the whole run it is
_HANDLE = re.compile(r"^([ \t]*# \[Provenance debug handles\] .*?):\d+$", re.MULTILINE)
_KERNEL_PATH = re.compile(r"^([ \t]*# kernel path:).*$", re.MULTILINE)
# a place: its function and its code matter. Its line moves with edits, and a copy of the program has another name
_PLACE = re.compile(r"(?:(?<![^\s\"'():,])[^\s\"'():,]*[/\\])?(?<![\w.-])[\w.-]+\.py(\"?)(?::\d+|, line \d+)")
# comments of guards are aligned
_ALIGNED = re.compile(r"(?<=\S) {2,}(?=[#(])")
_TEMPORARY = re.compile(r"(?:(?<![^\s\"'])[^\s\"']*[/\\])?torchinductor_[^\s\"']*")
_RESUME = re.compile(r"(torch_dynamo_resume_in_\w{1,300}?)_at_\d+")
# kernels and their handles, nodes, buffers, temporaries, pointers, symbols
_NUMBERED = re.compile(
    r"(?<![\w.])(?!float8_|sm_|e\d+m\d+)(?:"
    r"(?P<name>[A-Za-z_]\w*?)_\d+(?:_\d+)*(?P<handle>:\d+)?"
    r"|(?P<short>buf|tmp|arg|op|in_out_ptr|in_ptr|out_ptr|zuf|raw_stream|stream|workspace|ks|ps|[suz])\d+"
    r")\b"
)
# `arg0_1` has two numbers
_SHORT = re.compile(r"^(buf|tmp|arg|op|zuf)\d+$")
_WORD_NUMBER = re.compile(r"^(?:float|int|uint|bfloat|complex)\d+$")


def without_noise(text: str) -> str:
    """``text`` without what differs between two runs of the same program. The same number of lines; doing it again changes nothing."""
    return _cleaned(text, lambda base, _: base)


def renumbered(text: str) -> str:
    """``text`` without noise, with names numbered by their first use: two texts that differ in names alone are the same."""
    seen: dict[str, dict[str, int]] = {}

    def number(base: str, whole: str) -> str:
        of_base = seen.setdefault(base, {})
        return f"{base}#{of_base.setdefault(whole, len(of_base))}"

    return _cleaned(text, number)


def _cleaned(text: str, rename: Callable[[str, str], str]) -> str:
    text = _AOT_ID.sub("# AOT ID", text)
    text = _LATENCY.sub("Guard latency", text)
    text = _HANDLE.sub(r"\1", text)
    text = _KERNEL_PATH.sub(r"\1", text)
    text = _PLACE.sub(r"file\1", text)
    text = _TEMPORARY.sub("torchinductor", text)
    text = _ALIGNED.sub(" ", text)
    text = _ADDRESS.sub("0x", text)
    text = _HASH.sub("hash", text)
    text = _CHECKED_ID.sub(r"\1, id)", text)
    text = _MODULE_FILE.sub(r"\1", text)
    text = _OBJECT_ID.sub("id", text)
    text = _VALUES.sub("values", text)
    text = _RESUME.sub(r"\1", text)

    def shortened(match: re.Match[str]) -> str:
        base = match["short"] or _SHORT.sub(r"\1", match["name"])
        # a kernel's handle numbers its calls in the whole run
        whole = match[0].removesuffix(match["handle"] or "")
        return match[0] if _WORD_NUMBER.match(match[0]) else rename(base, whole)

    return _NUMBERED.sub(shortened, text)


def spelled_alike(before: str, after: str) -> str:
    """``before``, with each line that says the same as one of ``after`` in its words. As many lines, in the same order."""
    clean = without_noise
    if clean(before) == clean(after):  # they differ in which values are used, if at all
        clean = renumbered
    old, new = before.split("\n"), after.split("\n")
    matcher = SequenceMatcher(None, clean(before).split("\n"), clean(after).split("\n"), autojunk=False)
    for first, second, length in matcher.get_matching_blocks():
        old[first : first + length] = new[second : second + length]
    return "\n".join(old)
