"""Makes a link that opens a new issue of PyTorch with the report filled in. Nothing is sent: the user reads, edits and submits it."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote_plus

NEW_ISSUE = "https://github.com/pytorch/pytorch/issues/new"
# GitHub answers 414 to longer ones (8 KiB)
LONGEST_URL = 8_000
LONGEST_TITLE = 200
CUT = "\n\n*The rest of the report is in `{file}`: paste it here, or attach the file.*\n"


def issue_link(title: str, sections: Sequence[str], file: str) -> str:
    """The link, with as many leading ``sections`` of the report as its length allows; ``file`` has all of them.

    PyTorch's issue forms take no values from a link, so it opens a blank issue.
    """
    title = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    link = f"{NEW_ISSUE}?title={quote_plus(title)}&body="
    body = "\n\n".join(sections)
    if len(link) + len(quote_plus(body)) <= LONGEST_URL:
        return link + quote_plus(body)
    rest = quote_plus(CUT.format(file=file))
    kept = ""
    for section in sections:
        longer = kept + quote_plus(f"{section}\n\n")
        if len(link) + len(longer) + len(rest) > LONGEST_URL:
            break
        kept = longer
    return f"{link}{kept}{rest}"
