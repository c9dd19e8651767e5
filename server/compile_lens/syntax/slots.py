"""Finds what can be completed at the cursor, from the text before it, because code at the cursor is rarely complete."""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct

from compile_lens.late_pattern import pattern
from compile_lens.syntax.contexts import COMPILE, CONFIG_MODULES, OPTIMIZE, SET_LOGS
from compile_lens.syntax.imports import Imports

LINES_BACK = 40
_ATTRIBUTE = pattern(r"(?<![\w.])(?P<owner>[A-Za-z_][\w.]*)\.(?P<prefix>\w*)\Z")
_VALUE_OF = pattern(
    r"(?:\[\s*[\"'](?P<subscript>[A-Z][A-Z0-9_]+)[\"']\s*\]\s*=|[\"'](?P<key>[A-Z][A-Z0-9_]+)[\"']\s*[:,]|\b(?P<keyword>[A-Z][A-Z0-9_]+)\s*=)\s*\Z"
)
_ENVIRON = pattern(r"(?:\benviron(?:\.\w+\(|\[)|\bgetenv\(|\bsetenv\()\s*\Z")
_KEYWORD = pattern(r"\b(?P<name>mode|backend)\s*=\s*\Z")
_SETTING_BEFORE = pattern(r"(?<![A-Z0-9_])(?P<name>[A-Z][A-Z0-9_]{3,})[\"']?\s*[=:]\s*[\"']?(?P<value>[^\"'\s]*)\Z")


class SlotKind(str, Enum):
    """The kind of completion."""

    LOG = "log"
    VARIABLE = "variable"
    VALUE = "value"
    OPTION = "option"
    OPTION_KEY = "option key"
    ARGUMENT = "argument"
    LOG_KEYWORD = "log keyword"
    MODE = "mode"
    BACKEND = "backend"


class Slot(Struct, frozen=True):
    """``prefix`` is already written; ``owner`` is the module of an option, or the variable of a value."""

    kind: SlotKind
    prefix: str
    owner: str = ""


def python_slot(lines_before: list[str], before: str, imports: Imports) -> Slot | None:
    """What can follow ``before``, the current line up to the cursor, in Python. ``lines_before`` are the lines above."""
    if _in_comment(before):
        return None
    string = _open_string(before)
    if string is not None:
        return _in_string(*string, lines_before, imports)
    attribute = _ATTRIBUTE.search(before)
    if attribute is not None:
        full = imports.resolve(attribute.group("owner"))
        module = next((name for name in CONFIG_MODULES if full == name or full.startswith(f"{name}.")), None)
        return Slot(SlotKind.OPTION, attribute.group("prefix"), full) if module is not None else None
    word = re.search(r"\w*\Z", before)
    prefix = word.group() if word is not None else ""
    call = open_call([*lines_before, before[: len(before) - len(prefix)]], imports)
    if call is None or not re.search(r"[(,]\s*\Z", call[1]):
        return None
    if call[0] in COMPILE:
        return Slot(SlotKind.ARGUMENT, prefix)
    if call[0] in SET_LOGS:
        return Slot(SlotKind.LOG_KEYWORD, prefix)
    return _patched(call[0], SlotKind.OPTION, prefix)


def text_slot(before: str, line_before: str = "") -> Slot | None:
    """What can follow ``before`` in a shell script, a ``.env``, a Dockerfile, YAML, TOML or JSON."""
    match = _SETTING_BEFORE.search(before)
    if match is None and re.search(r"^[ \t-]*value:[ \t]*[\"']?[^\"']*\Z", before):
        owner = re.search(r"\bname:\s*[\"']?([A-Z][A-Z0-9_]+)", line_before)
        value = re.sub(r"^[ \t-]*value:[ \t]*[\"']?", "", before)
        return _value(owner.group(1), value) if owner is not None else None
    if match is not None:
        return _value(match.group("name"), match.group("value"))
    name = re.search(r"(?:^|[\s\"'])((?:TORCH|TRITON|PYTORCH|INDUCTOR)[A-Z0-9_]*)\Z", before)
    return Slot(SlotKind.VARIABLE, name.group(1)) if name is not None else None


def _value(variable: str, value: str) -> Slot:
    if variable == "TORCH_LOGS":
        return Slot(SlotKind.LOG, value.rpartition(",")[2].strip().lstrip("+-"))
    return Slot(SlotKind.VALUE, value, variable)


def _in_comment(before: str) -> bool:
    at = before.find("#")
    while at >= 0:
        if _open_string(before[:at]) is None:
            return True
        at = before.find("#", at + 1)
    return False


def _open_string(before: str) -> tuple[str, str] | None:
    """The code before an unclosed string at the end of ``before``, and the text of the string so far."""
    quote = ""
    start = 0
    for at, character in enumerate(before):
        if quote:
            if character == quote and before[at - 1] != "\\":
                quote = ""
        elif character in "\"'":
            quote, start = character, at
    return (before[:start], before[start + 1 :]) if quote else None


def _in_string(code: str, inside: str, lines_before: list[str], imports: Imports) -> Slot | None:
    owner = _VALUE_OF.search(code)
    if owner is not None:
        return _value(next(name for name in owner.groups() if name), inside)
    if _ENVIRON.search(code):
        return Slot(SlotKind.VARIABLE, inside)
    setting = _SETTING_BEFORE.search(inside)
    if setting is not None:
        return _value(setting.group("name"), setting.group("value"))
    call = open_call([*lines_before, code], imports)
    if call is None:
        return None
    callee, arguments = call
    keyword = _KEYWORD.search(arguments)
    if keyword is not None and callee in COMPILE | OPTIMIZE:
        return Slot(SlotKind.MODE if keyword.group("name") == "mode" else SlotKind.BACKEND, inside)
    if callee in OPTIMIZE and arguments.strip() == "(":
        return Slot(SlotKind.BACKEND, inside)
    in_dict = arguments.count("{") > arguments.count("}") and re.search(r"[{,]\s*\Z", arguments) is not None
    if callee in COMPILE and in_dict:
        return Slot(SlotKind.OPTION_KEY, inside, "torch._inductor.config")
    if in_dict or arguments.strip() == "(":
        return _patched(callee, SlotKind.OPTION_KEY, inside)
    return None


def _patched(callee: str, kind: SlotKind, prefix: str) -> Slot | None:
    module = callee.removesuffix(".patch")
    return Slot(kind, prefix, module) if callee.endswith(".patch") and module in CONFIG_MODULES else None


def open_call(lines: list[str], imports: Imports) -> tuple[str, str] | None:
    """The unclosed call at the end of ``lines``: its full name, and its text from the parenthesis on."""
    text = "\n".join(lines[-LINES_BACK:])
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        if text[at] == ")":
            depth += 1
        elif text[at] == "(":
            if depth == 0:
                name = re.search(r"(?<![\w.])([A-Za-z_][\w.]*)\s*\Z", text[:at])
                full = imports.resolve(name.group(1)) if name is not None else ""
                if full == "functools.partial":
                    first = re.match(r"\(\s*([\w.]+)\s*,", text[at:])
                    full = imports.resolve(first.group(1)) if first is not None else ""
                return (full, text[at:]) if full else None
            depth -= 1
    return None
