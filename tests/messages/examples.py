"""Finds an example for each message template: a line that the product wrote, in which the template's words stand."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.messages.templates import ROOT, Template

FILE = Path(__file__).parent / "examples.json"
LONGEST_LINE = 6000
# how much of a longer line is shown around the words
LONGEST_SHOWN = 180
# letters of a template that a line must have, beside others or in prose: fewer are found everywhere
FEWEST_LETTERS = 6
FEWEST_WRITTEN = 18
# a value that is a number, by its name
NUMBER = re.compile(
    r"number of |(?:\w+_)?(?:count|number|more|line|lines|seconds|duration_s|left_out|hidden|nodes|limit)\Z", re.I
)
# folders of the machine that wrote a line
FOLDERS = re.compile(r"(?:/[^\s/'\"`:]+)+/(?:site-packages|lib/python3\.\d+|tests/fixtures|tests/data|job|pytest-\d+)/")
PRIVATE = re.compile(rf"/(?:tmp|root|home|var|opt)/\w|{re.escape(str(ROOT))}|{re.escape(sys.prefix)}")


def load() -> dict[str, str]:
    """The stored examples, by the text of their template."""
    stored: dict[str, str] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return stored


def store(examples: dict[str, str]) -> None:
    FILE.write_text(json.dumps(examples, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def still_right(templates: Iterable[Template], examples: dict[str, str]) -> dict[str, str]:
    """The examples whose templates are still there."""
    texts = {template.text for template in templates}
    return {text: example for text, example in examples.items() if text in texts}


def match(
    templates: Iterable[Template], said: Iterable[str], written: Iterable[str], known: dict[str, str]
) -> dict[str, str]:
    """Examples out of what the product said, or else out of pages and tests, where a few words alone prove nothing.

    One that is known and differs in numbers alone stays, so that the page changes only where words do.
    """
    first, second = "\n".join(_lines(said)), "\n".join(_lines(written))
    found = {}
    for template in templates:
        old = known.get(template.text, "")
        example = _example(template, first, FEWEST_LETTERS) or _example(template, second, FEWEST_WRITTEN)
        if example:
            found[template.text] = old if _without_numbers(old) == _without_numbers(example) else example
    return found


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "0", text)


def _lines(texts: Iterable[str]) -> list[str]:
    lines: dict[str, None] = {}
    for text in texts:
        # a whole message first: a template may go over several lines
        for line in (text, *text.splitlines()):
            plain = " ".join(FOLDERS.sub("", line).split())
            if plain and len(plain) <= LONGEST_LINE and not PRIVATE.search(plain):
                lines[plain] = None
    return list(lines)


def _example(template: Template, corpus: str, fewest: int) -> str:
    pieces = [re.sub(r"\s+", " ", piece) for piece in template.pieces]
    pieces[0], pieces[-1] = pieces[0].lstrip(), pieces[-1].rstrip()
    longest = max(pieces, key=len)
    letters = len(re.sub(r"\W", "", "".join(pieces)))
    if letters < FEWEST_LETTERS or not longest.strip():
        return ""
    whole, inside = (_pattern(pieces, template.holes, longest_value) for longest_value in ("*", "{0,60}"))
    best, at = "", corpus.find(longest)
    while at >= 0:
        start, end = corpus.rfind("\n", 0, at) + 1, corpus.find("\n", at)
        line = corpus[start : end if end >= 0 else len(corpus)]
        if whole.fullmatch(line):
            return _clipped(line, 0, len(line))
        # the shortest line in which it is a part says the most of it
        if letters >= fewest and (not best or len(line) < len(best)) and (found := inside.search(line)):
            best = _clipped(line, line.find(longest, found.start()), found.end())
        at = corpus.find(longest, start + len(line))
    return best


def _pattern(pieces: Sequence[str], holes: Sequence[str], how_long: str) -> re.Pattern[str]:
    """Words end where the template's do; a value that is a choice between texts may be empty."""
    pattern = re.escape(pieces[0])
    for hole, piece in zip(holes, pieces[1:], strict=True):
        pattern += (r"[\d,.]+" if NUMBER.match(hole) else f"(.{how_long}?)") + re.escape(piece)
    before = r"(?<!\w)" if re.match(r"\w", pieces[0]) else ""
    return re.compile(before + pattern + (r"(?!\w)" if re.search(r"\w\Z", pieces[-1]) else ""))


def _clipped(line: str, start: int, end: int) -> str:
    if len(line) <= LONGEST_SHOWN:
        return line
    left = max(0, min(start - 40, len(line) - LONGEST_SHOWN))
    left = 0 if left < 20 else line.rfind(" ", 0, left) + 1
    right = min(len(line), max(left + LONGEST_SHOWN, min(end, left + 2 * LONGEST_SHOWN)))
    right = len(line) if right > len(line) - 20 else line.find(" ", right) if " " in line[right:] else len(line)
    return ("… " if left else "") + line[left:right] + (" …" if right < len(line) else "")
