"""Finds secrets inside the value of a variable, whatever its name is: of addresses, connection strings and options.

Only the secret is replaced: a program may need the host, and a number, a switch or a path is none.
"""

from __future__ import annotations

import re

from compile_lens.late_pattern import pattern

HIDDEN = "hidden-by-compile-lens"
# up to the last `@`: a password may have any character
_PASSWORD_IN_URL = pattern(r"(?<=://)([^/\s:]*):(?:[^\s,]|,(?!\w{1,20}://))+(?=@)")
# With blanks in it, as people type them (SQLAlchemy and libpq take any word): before a host, and with a slash where the value is nothing
# else. What a port has behind it is no password.
_HOST = r"(?:\[[\da-f:]{2,40}\]|[\w-]{1,63}(?:\.[\w-]{1,63}){0,20})(?::\d{1,5})?"
_WORDS_IN_URL = pattern(
    rf"(?:(?<=://)([^/\s:@]{{0,200}}):(?!\d{{1,5}}[/\s])[^\s/]{{0,200}}(?:[ \t]{{1,4}}[^\s/]{{1,200}}){{1,20}}"
    rf"(?=@{_HOST}(?:[/?#,;\s\"']|$))"
    rf"|^(\w[\w+.-]{{0,40}}://[^/\s:@]{{0,200}}):(?!\d{{1,5}}[/\s])[^\n\t ]{{0,500}}[ \t][^\n]{{0,500}}(?=@{_HOST}(?:[/?#,;]\S*)?$))",
    re.IGNORECASE,
)
# In the place of a user. Where git or an index is asked, a short one with numbers may be a token, too.
_TOKEN_IN_URL = pattern(
    rf"(?<=://)(?:[^/@\s:]{{16,}}(?=@)|(?=[^/@\s:]*\d)[^/@\s:]{{16,}}(?=:{HIDDEN}@))"
    r"|(?:(?<=https://)|(?<=http://))(?=[^/@\s:]*\d)(?=[^/@\s:]*[a-z])[^/@\s:]{8,}(?=@)",
    re.IGNORECASE,
)
# What signs an address for whoever has it, or stands for its user (AWS's Signature Version 4, Google's signed URLs, Azure's shared access
# signatures, RFC 6750, section 2.3). `key`, `code` and `auth` say as much where a long word with numbers is behind them (APIs of Google,
# functions of Azure, Firebase).
_SECRET_OF_QUERY = pattern(
    r"([?&;#](?:(?:[\w.-]*(?:signature|credential|token|secret|passw(?:or)?d|api[_-]?key|access[_-]?key)|sig|pass|pwd|jwt)="
    r"|(?:key|code|auth|appid)=(?=[\w%~.-]*\d)(?=[\w%~.-]{16})))"
    r"(?!(?:true|false|\d{1,6})(?:[&;#]|$))(?:\"[^\"]*\"|'[^']*'|[^&;#\s\"'<>]+)",
    re.IGNORECASE,
)
# tokens by the prefixes that their issuers publish, wherever they stand
_TOKEN = pattern(
    r"(?<![\w-])(?:(?:hf_|gh[pousr]_|github_pat_|glpat-|glrt-|xox[abeoprs]-|xapp-|pypi-|npm_|AKIA|ASIA|AIza|ya29\.|nvapi-|gsk_|xai-(?=[\w-]*\d)|r8_"
    r"|dop_v1_|dckr_[op]at_|[sr]k_(?:live|test)_|whsec_|lin_api_|tskey-|ATATT3|SG\.[\w-]{16,30}\.)[\w-]{16,300}"
    r"|sk-(?=[\w-]{0,100}\d)[\w-]{20,200}|eyJ[\w-]{10,2000}\.eyJ[\w.-]{10,4000})"
)
# Whoever has the address of a webhook may write there: its path is the secret (docs.slack.dev "Incoming webhooks", docs.discord.com
# "Webhook Resource", learn.microsoft.com "Incoming Webhooks"), as is that of a bot (core.telegram.org/bots/api "Making requests").
_WEBHOOK = pattern(
    r"(https?://(?:hooks?\.[\w.:-]{1,200}|[\w.:-]{1,200}/(?:[\w.~-]{1,40}/){0,4}(?:incoming-?)?(?:web)?hooks?b?\d?)/)"
    r"(?=[^\s\"'<>?#]*\d)(?=[^\s\"'<>?#]*[a-z])[^\s\"'<>?#]{16,}"
    r"|(https?://[\w.:-]{1,200}/bot)\d{6,12}:[\w-]{20,}",
    re.IGNORECASE,
)
# `me:secret@host` without a scheme: a host is a name with a dot or an address, which the tag of an image and a copy over SSH are not
_USER_AT_HOST = pattern(
    r"(?<![\w/:.@+%-])([\w.+-]{1,64}):(?!//)[^\s/@:,;\"']{3,128}"
    r"(?=@(?:tcp|unix)\(|@(?:localhost|(?=[\w.-]{0,80}[a-z])[\w-]{1,63}(?:\.[\w-]{1,63})+|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?:[/\s,;\"']|$))",
    re.IGNORECASE,
)
# what a value that says nothing looks like: a number, a switch, a path, or another variable
_NOTHING = r"(?!(?:\d{1,6}|true|false|yes|no|on|off|none|null|auto)(?:[\s;,\"']|$)|[~/$%{<]|\./)"
# options of commands, also as Java's properties (`-Dx.password=…`): a short token is a word of a text
_OPTION = pattern(
    rf"((?:^|[\s\"'])--?[\w.-]{{0,60}}(?:passw(?:or)?d|passphrase|secret|api-?key|access-?key"
    rf"|token(?=[\"']?[=,]?[ \t]*[\"']?[\w.~+/-]{{16}}))(?:=|[ \t]+|[\"'][ \t]*,[ \t]*)([\"'])?)"
    rf"(?!-){_NOTHING}(?(2)(?:(?!\2)[^\n])+|[^\s\"']+)",
    re.IGNORECASE,
)
_USER_OPTION = pattern(
    rf"((?:^|[\s\"'])(?:-u|-U|--user|--proxy-user)(?:=|[ \t]*)([\"'])?[\w.@+-]{{1,64}}:)"
    rf"{_NOTHING}(?(2)(?:(?!\2)[^\n])+|[^\s\"']+)"
)
# fields of connection strings (ODBC, ADO.NET, Azure, libpq)
_FIELD = pattern(
    r"((?:^|[;\s\"'])(?:pwd|password|passwd|(?:shared)?access_?key|account_?key"
    r"|shared_?secret|client_?secret|access_?token)[ \t]{0,4}=[ \t]{0,4})"
    # with blanks, where no other field of words follows, which are separated by blanks then
    rf"(\"[^\"]*\"|'[^']*'|\{{[^}}]*\}}|{_NOTHING}[^\s;\"'{{]+(?:[ \t]+[^\s;=\"'{{]+)*(?=[ \t]*(?:;|$))|{_NOTHING}[^\s;\"'{{]+)",
    re.IGNORECASE,
)
# headers that name their user (RFC 9110, section 11.6.2; X-Api-Key; Private-Token of GitLab), in options and in JSON
_HEADER = pattern(
    rf"(\b(?:(?:proxy-)?authorization|x-api-key|private-token)[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}}[\"']?"
    rf"(?:(?:bearer|basic|token|digest)[ \t]+)?){_NOTHING}[^\s\"',;]+",
    re.IGNORECASE,
)
# fields of JSON, and of a dictionary of Python
_JSON_FIELD = pattern(
    r"([\"'][\w.-]{0,60}(?:passw(?:or)?d|passphrase|secret|api_?key|access_?key|private_?key"
    r"|token(?=[\"'][ \t]{0,4}:[ \t]{0,4}[\"'][\w.~+/-]{16}))[\"'][ \t]{0,4}:[ \t]{0,4}[\"'])"
    rf"{_NOTHING}[^\"']+",
    re.IGNORECASE,
)
# characters of a value that is searched, which takes a time that grows with its square
LONGEST = 1 << 13
# what says that a long value has some: a name with a value (`key:/…` is the end of a path in a list of them), an option
_SAYS_SO = pattern(
    r"(?:passw|pwd|passphrase|secret|token|key|authoriz)[\w-]{0,40}[\"']?[ \t]{0,4}[:=](?!/)"
    r"|(?:^|\s)(?:--[\w-]{0,40}(?:passw|token|secret|key)\w{0,10}|-u)[ =]",
    re.IGNORECASE,
)
_MAY_HAVE_SOME = pattern(r"://|@|passw|pwd|token|secret|key|passphrase|authoriz|-u", re.IGNORECASE)


def without_secrets(value: str) -> str:
    """``value`` with its secrets replaced; one that is too long to be searched for each, and may have some, whole."""
    if len(value) > LONGEST:
        has_address = "://" in value and "@" in value
        if has_address or _TOKEN.search(value) or _SAYS_SO.search(value):
            return HIDDEN
        return _SECRET_OF_QUERY.sub(rf"\1{HIDDEN}", value)
    value = _TOKEN.sub(HIDDEN, value)
    if not _MAY_HAVE_SOME.search(value):
        return value
    shown = _TOKEN_IN_URL.sub(HIDDEN, _PASSWORD_IN_URL.sub(rf"\1:{HIDDEN}", value))
    shown = _WORDS_IN_URL.sub(lambda match: f"{match[1] or match[2] or ''}:{HIDDEN}", shown)
    shown = _WEBHOOK.sub(lambda match: f"{match[1] or match[2]}{HIDDEN}", shown)
    shown = _USER_AT_HOST.sub(rf"\1:{HIDDEN}", shown)
    # a field may have in braces what ends a part of a query
    for one in (_FIELD, _SECRET_OF_QUERY, _OPTION, _USER_OPTION, _HEADER, _JSON_FIELD):
        shown = one.sub(rf"\1{HIDDEN}", shown)
    return shown
