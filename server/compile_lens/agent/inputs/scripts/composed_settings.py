"""Composes the settings of a program from a file and the groups of files that it lists under `defaults`.

A program that leaves this to a library gets nothing where the library is not installed, or ends where a group is to be chosen on its
command line (`data: ???`): then the first of the group is taken.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.regular_file import read_regular_text

ENDINGS = (".yaml", ".yml", ".json", ".toml")
OWN = "_self_"
MISSING = "???"
MOST_FILES = 60
_DEEPEST = 6
_SMALL = re.compile(r"debug|tiny|small|mini|nano|toy|example|default|base|test|fast", re.IGNORECASE)
# where a file says that its settings are those of the whole
_AT_TOP = re.compile(r"^#\s*@package\s+_global_", re.MULTILINE)
_REFERENCE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")


class ComposedSettings(dict[str, Any]):
    """Settings whose items are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def composed(folder: str, name: str) -> Any:
    """The settings of the file ``name`` in ``folder``, with the groups that it lists; None where there is no such file, or no library
    that reads it. What the program's own library makes of settings, where it is installed, else ``ComposedSettings``."""
    data = _Composition(folder).of(name)
    if not isinstance(data, dict):
        return None
    library = attempted(lambda: importlib.import_module("omegaconf"))
    made = attempted(lambda: library.OmegaConf.create(data)) if library is not None else None
    return made if made is not None else _with_attributes(_resolved(data, data))


def file_of(folder: str, name: str) -> str:
    """The path of the file ``name``, which may lack its ending; '' where there is none."""
    for ending in ("", *ENDINGS):
        path = os.path.join(folder, name + ending)
        if path.endswith(ENDINGS) and os.path.isfile(path):
            return path
    return ""


def read_settings(path: str) -> Any:
    """What is in a file of settings; None where it cannot be read."""
    text = attempted(lambda: read_regular_text(path))
    if text is None:
        return None
    if path.endswith(".json"):
        return attempted(lambda: json.loads(text))
    if path.endswith(".toml"):
        return attempted(lambda: importlib.import_module("tomllib").loads(text))
    return attempted(lambda: importlib.import_module("yaml").safe_load(text))


class _Composition:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._read = 0

    def of(self, name: str, depth: int = 0) -> Any:
        """The settings of one file; None where there is none."""
        path = file_of(self._folder, name)
        self._read += 1
        if not path or depth > _DEEPEST or self._read > MOST_FILES:
            return None
        data = read_settings(path)
        if not isinstance(data, dict) or not isinstance(data.get("defaults"), list):
            return data
        own = {key: value for key, value in data.items() if key != "defaults"}
        result: dict[str, Any] = {}
        listed = data["defaults"] if OWN in data["defaults"] else [*data["defaults"], OWN]
        for entry in listed:
            if entry == OWN:
                _merge(result, own)
            elif isinstance(entry, str):
                self._add(result, name, *os.path.split(entry), depth=depth)
            elif isinstance(entry, dict):
                for group, option in entry.items():
                    self._add_group(result, name, str(group), option, depth)
        return result

    def _add_group(self, result: dict[str, Any], name: str, group: str, option: Any, depth: int) -> None:
        words = group.split()
        place, _, package = words[-1].partition("@")
        if "override" in words or option is None:
            return  # it chooses what another file lists, or nothing
        options = option if isinstance(option, list) else [option]
        for each in options:
            chosen = self._first_of(os.path.join(os.path.dirname(name), place)) if each == MISSING else str(each)
            self._add(result, name, place, chosen, package, depth)

    def _add(
        self, result: dict[str, Any], name: str, group: str, option: str, package: str = "", depth: int = 0
    ) -> None:
        around = "" if group.startswith("/") else os.path.dirname(name)
        inside = os.path.join(around, group.lstrip("/"), option)
        found = self.of(inside, depth + 1)
        path = file_of(self._folder, inside)
        if found is None or not path:
            return
        is_at_top = _AT_TOP.search(attempted(lambda: read_regular_text(path)) or "") is not None
        keys = [] if is_at_top or package == "_global_" else (package or group.lstrip("/").replace("/", ".")).split(".")
        for key in reversed([each for each in keys if each]):
            found = {key: found}
        _merge(result, found)

    def _first_of(self, group: str) -> str:
        """The option of a group that is taken where none is said: one that leaves nothing open, is small by its name, or is the first."""
        folder = os.path.join(self._folder, group)
        names = attempted(lambda: os.listdir(folder)) or []

        def order(name: str) -> tuple[bool, bool, str]:
            text = attempted(lambda: read_regular_text(os.path.join(folder, name))) or ""
            return MISSING in text, _SMALL.search(name) is None, name

        first = min((each for each in names if each.endswith(ENDINGS)), key=order, default="")
        return os.path.splitext(first)[0]


def _merge(into: dict[str, Any], other: Any) -> None:
    for key, value in other.items() if isinstance(other, dict) else ():
        known = into.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            _merge(known, value)
        else:
            into[key] = value


def _resolved(value: Any, whole: Any, depth: int = 0) -> Any:
    """``value`` with what its references lead to: `${model.width}`."""
    if isinstance(value, dict):
        return {key: _resolved(each, whole, depth) for key, each in value.items()}
    if isinstance(value, list):
        return [_resolved(each, whole, depth) for each in value]
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) and depth < _DEEPEST else None
    if match is None:
        return value
    found = whole
    for name in match[1].split("."):
        if not isinstance(found, dict) or name not in found:
            return value
        found = found[name]
    return _resolved(found, whole, depth + 1)


def _with_attributes(value: Any) -> Any:
    if isinstance(value, dict):
        return ComposedSettings({key: _with_attributes(each) for key, each in value.items()})
    return [_with_attributes(each) for each in value] if isinstance(value, list) else value
