"""Keeps secrets in environment variables from sandboxed runs: the standby, whose forks they are, never has them.

A program that reads such a variable gets ``HIDDEN`` rather than an error. A run with full access gets the real values with its command.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from compile_lens.late_pattern import pattern
from compile_lens.workers.secret_parts import HIDDEN, without_secrets

# The last words of names (GitHub's secret scanning, gitleaks and detect-secrets look for the same); they may be many and counted. To add
# one, add it here. ``GIT_CONFIG_KEY_0`` is the name of a setting: git ends where it is none.
_NAMES = pattern(
    r"^(?!GIT_CONFIG_KEY_\d+$)(?:.*_)?(?:KEYS?(?:_ID|_BASE)?|(?:API|ACCESS|SECRET|PRIVATE|AUTH)KEYS?(?:_ID)?|TOKEN(?:_\w+)?|(?:API|ACCESS|AUTH|BEARER|ID|REFRESH|SESSION)TOKENS?"
    r"|(?:API|ACCESS|AUTH|BEARER|REFRESH|SESSION)_TOKENS|JWT(?:_\w+)?|(?:API|APP|CLIENT)?SECRETS?|PASS|PASSPHRASE|PWD_HASH"
    r"|CREDENTIALS?(?:_JSON)?|CREDS|PAT|DSN|COOKIE|WEBHOOK(?:_URL)?|CONNECTION_STRING|AUTH|AUTH_CONFIG|HEADERS|CONFIG_VALUE_\d+)(?:_?\d+)?$"
    r"|(?:PASSWORD|PASSWD|[^D]PWD|BINDPW|SSHPASS)(?:_?\d+)?$",
    re.IGNORECASE,
)
# Values that are tokens whatever their name is. Their issuers publish the prefixes for secret scanning.
_VALUES = pattern(
    r"^(?:hf_|api_org_|gh[pousr]_|github_pat_|glpat-|sk-|xai-|sk_live_|rk_live_|xox[abeoprs]-|pypi-|npm_|AKIA|ASIA|AIza|ya29\.|nvapi-|r8_|dop_v1_"
    r"|gsk_|dckr_[op]at_|xapp-\d|dapi[0-9a-f]{8}|[sr]k_test_|whsec_|glrt-|ATATT3|lin_api_|tskey-"
    r"|SG\.|eyJ[\w-]{10,}\.eyJ|(?:[Aa]uthorization: *|AUTHORIZATION: *)?(?:[Bb]earer|[Bb]asic) +\S)|-----BEGIN "
)
# settings that git passes on to what it starts: 'name=value' or 'name'='value', quoted for a shell (quote.c, ``sq_quote_buf``)
_GIT_SETTINGS = "GIT_CONFIG_PARAMETERS"
_GIT_SETTING = pattern(r"('[^']*'='|'[^'=]*=)((?:[^']|'\\['!]')*)(?=')")
# a number or a switch says nothing
_HARMLESS = pattern(r"^(?:\d{1,6}|true|false|yes|no|on|off|none|null|auto|~/\S*)?$", re.IGNORECASE)
# a key, or a file of keys, that is encoded to have one line
_ENCODED = pattern(r"_(?:B64|BASE64)(?:_ENCODED)?(?:_?\d+)?$", re.IGNORECASE)
_BASE64 = pattern(r"^[\w+/-]{16,}={0,2}$")
_OF_PATH = pattern(r"(?:FILE|PATH|DIR|HOME|SOCK)$", re.IGNORECASE)


def hidden(environment: Mapping[str, str]) -> dict[str, str]:
    """What to set in the place of variables of ``environment`` that look like secrets: only those."""
    found = {}
    for name, value in environment.items():
        shown = without_secrets(value)
        if name == _GIT_SETTINGS:
            shown = _GIT_SETTING.sub(_without_value, shown)
        elif _VALUES.search(value) or _is_key(name, value):
            shown = HIDDEN
        if shown != value:
            found[name] = shown
    return found


def _without_value(setting: re.Match[str]) -> str:
    """A setting of git. Its value may be a header with a password: like ``GIT_CONFIG_VALUE_0`` it is hidden unless it is harmless."""
    name, value = setting.groups()
    return setting[0] if _HARMLESS.match(value) or _is_path("", value) else name + HIDDEN


def _is_key(name: str, value: str) -> bool:
    """Whether ``value`` is a secret by its ``name``."""
    if _ENCODED.search(name) and _BASE64.match("".join(value.split())):
        return True
    return _NAMES.search(name) is not None and not (_HARMLESS.match(value) or _is_path(name, value))


def _is_path(name: str, value: str) -> bool:
    """Whether ``value`` is a path, which a key in base64 may look like: it is there, or the name says so."""
    return value.startswith("/") and (_OF_PATH.search(name) is not None or os.path.lexists(value))
