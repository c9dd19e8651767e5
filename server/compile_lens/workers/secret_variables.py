"""Keeps secrets in environment variables from sandboxed runs: the standby, whose forks they are, never has them.

A program that reads such a variable gets ``HIDDEN`` rather than an error. A run with full access gets the real values with its command.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from compile_lens.late_pattern import pattern

HIDDEN = "hidden-by-compile-lens"
# The last words of names (GitHub's secret scanning, gitleaks and detect-secrets look for the same). To add one, add it here.
_NAMES = pattern(
    r"(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION|MASTER|SERVICE|ACCOUNT|STORAGE|DEPLOY|AUTH)_?KEY(?:_ID)?"
    r"|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD_HASH|CREDENTIALS?|CREDS|APIKEY|PAT|DSN|COOKIE|SESSION_KEY|WEBHOOK_URL"
    r"|CONNECTION_STRING|CLIENT_SECRET|LICENSE_KEY)$",
    re.IGNORECASE,
)
# Values that are tokens whatever their name is. Their issuers publish the prefixes for secret scanning.
_VALUES = pattern(
    r"^(?:hf_|api_org_|gh[pousr]_|github_pat_|glpat-|sk-|sk_live_|rk_live_|xox[abeoprs]-|pypi-|npm_|AKIA|ASIA|AIza|ya29\.|nvapi-|r8_|dop_v1_"
    r"|SG\.|eyJ[\w-]{10,}\.eyJ|-----BEGIN )"
)
_PASSWORD_IN_URL = pattern(r"(?<=://)([^/@\s:]*):[^/@\s]+(?=@)")
# a number, a switch, or a path that exists elsewhere says nothing
_HARMLESS = pattern(r"^(?:\d{1,6}|true|false|yes|no|on|off|none|null|auto|/\S*|~/\S*)?$", re.IGNORECASE)


def hidden(environment: Mapping[str, str]) -> dict[str, str]:
    """What to set in the place of variables of ``environment`` that look like secrets: only those."""
    found = {}
    for name, value in environment.items():
        shown = _PASSWORD_IN_URL.sub(rf"\1:{HIDDEN}", value)
        if _VALUES.match(value) or (_NAMES.search(name) and not _HARMLESS.match(value)):
            shown = HIDDEN
        if shown != value:
            found[name] = shown
    return found
