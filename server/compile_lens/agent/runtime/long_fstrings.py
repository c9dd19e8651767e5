"""Finds f-strings for which Python before 3.12 takes time with the square of their length: a second for 100 KB, a minute for 1 MB.

Server and agent use it: it needs the standard library alone.
"""

from __future__ import annotations

import io
import sys
import tokenize

# characters of one f-string; people write hundreds
LONGEST = 10_000
# fewer fields in one take no time that anybody notices
FEW_FIELDS = 1_000


def has_long_fstring(text: str) -> bool:
    """Whether the parser of this process's own Python takes far longer for ``text`` than for others of its length."""
    if sys.version_info >= (3, 12) or text.count("{") < FEW_FIELDS:
        return False
    try:
        return any(_is_long(token) for token in tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        # the parser ends here, too
        return False


def _is_long(token: tokenize.TokenInfo) -> bool:
    return token.type == tokenize.STRING and len(token.string) > LONGEST and "f" in token.string[:2].lower()
