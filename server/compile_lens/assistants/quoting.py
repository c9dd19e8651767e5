"""Marks text that came from a program, a trace or the compiler, so that an assistant reads it as data.

A program chooses the reasons of its graph breaks, the names of its classes and the text of its errors. None of that may look like an
instruction of ours, end its quotation, or be a link or an image where an answer is shown.
"""

from __future__ import annotations

import re

from compile_lens.shown_text import visible, visible_name

# what stands around quoted text; the text itself never contains them
OPEN, CLOSE = "⟪", "⟫"
LONGEST = 600

_QUOTES = str.maketrans({"⟪": "<<", "⟫": ">>"})
# what a client would make a link, an image or an element of
_SCHEME = re.compile(
    r"\b([A-Za-z][A-Za-z0-9+.-]{1,20}):(?=//)|\b(javascript|data|vbscript|mailto|command|file):(?=\S)", re.I
)
_BARE_HOST = re.compile(r"(?<![A-Za-z0-9])www\.(?=\w)", re.I)
_ADDRESS = re.compile(r"(?<=[\w.+-])@(?=[\w-]+\.)")
# of a link, and of a definition that makes links of names elsewhere
_TARGET = re.compile(r"\](?=[(\[:])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def quoted(text: str, longest: int = LONGEST) -> str:
    """``text`` in one line between ``⟪`` and ``⟫``, cut after ``longest`` characters; '' stays ''."""
    text = " ".join(visible(text).split())
    return f"{OPEN}{_cut(_harmless(text), longest)}{CLOSE}" if text else ""


def quoted_lines(text: str, longest: int) -> str:
    """The same with its lines as they are: source code, a diff."""
    text = visible(text).strip("\n")
    return f"{OPEN}{_cut(_harmless(text), longest)}{CLOSE}" if text.strip() else ""


def refusal_text(refusal: Exception) -> str:
    """A sentence of ours in one line, which may name a file or an argument."""
    return _harmless(visible_name(str(refusal)))


def _harmless(text: str) -> str:
    text = text.translate(_QUOTES)
    text = _SCHEME.sub(lambda match: f"{match[1] or match[2]}: ", text).replace("://", ": //")
    text = _ADDRESS.sub(" @", _BARE_HOST.sub("www. ", text))
    return _TAG.sub("< ", _TARGET.sub("] ", text))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
