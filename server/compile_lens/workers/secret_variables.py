"""Keeps secrets in environment variables from sandboxed runs: the standby, whose forks they are, never has them.

A program that reads such a variable gets ``HIDDEN`` rather than an error. A run with full access gets the real values with its command.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from compile_lens.late_pattern import pattern

HIDDEN = "hidden-by-compile-lens"
# The last words of names (GitHub's secret scanning, gitleaks and detect-secrets look for the same). To add one, add it here.
_NAMES = pattern(
    r"(?:^|_)(?:KEY(?:_ID|_BASE)?|(?:API|ACCESS|SECRET|PRIVATE|AUTH)KEY(?:_ID)?|TOKEN(?:_\w+)?|AUTHTOKEN|JWT(?:_\w+)?|SECRET|SECRETS|PASS|PASSPHRASE|PWD_HASH"
    r"|CREDENTIALS?(?:_JSON)?|CREDS|PAT|DSN|COOKIE|WEBHOOK(?:_URL)?|CONNECTION_STRING|AUTH|AUTH_CONFIG|HEADERS|CONFIG_VALUE_\d+)$"
    r"|PASSWORD$|PASSWD$|[^D]PWD$|BINDPW$|SSHPASS$",
    re.IGNORECASE,
)
# Values that are tokens whatever their name is. Their issuers publish the prefixes for secret scanning.
_VALUES = pattern(
    r"^(?:hf_|api_org_|gh[pousr]_|github_pat_|glpat-|sk-|sk_live_|rk_live_|xox[abeoprs]-|pypi-|npm_|AKIA|ASIA|AIza|ya29\.|nvapi-|r8_|dop_v1_"
    r"|SG\.|eyJ[\w-]{10,}\.eyJ|(?:[Aa]uthorization: *|AUTHORIZATION: *)?(?:[Bb]earer|[Bb]asic) +\S)|-----BEGIN "
)
# up to the last `@`: a password may have any character
_PASSWORD_IN_URL = pattern(r"(?<=://)([^/@\s:]*):[^\s,]+(?=@)")
# in the place of a user, or as the signature of an address
_TOKEN_IN_URL = pattern(r"(?<=://)[^/@\s:]{16,}(?=@)|(?<=[?&]sig=)[^&\s]+")
# a number or a switch says nothing
_HARMLESS = pattern(r"^(?:\d{1,6}|true|false|yes|no|on|off|none|null|auto|~/\S*)?$", re.IGNORECASE)
_OF_PATH = pattern(r"(?:FILE|PATH|DIR|HOME|SOCK)$", re.IGNORECASE)


def hidden(environment: Mapping[str, str]) -> dict[str, str]:
    """What to set in the place of variables of ``environment`` that look like secrets: only those."""
    found = {}
    for name, value in environment.items():
        shown = _TOKEN_IN_URL.sub(HIDDEN, _PASSWORD_IN_URL.sub(rf"\1:{HIDDEN}", value))
        if _VALUES.search(value) or (_NAMES.search(name) and not (_HARMLESS.match(value) or _is_path(name, value))):
            shown = HIDDEN
        if shown != value:
            found[name] = shown
    return found


def _is_path(name: str, value: str) -> bool:
    """Whether ``value`` is a path, which a key in base64 may look like: it is there, or the name says so."""
    return value.startswith("/") and (_OF_PATH.search(name) is not None or os.path.lexists(value))
