"""Finds a configuration file of the user's repository for a program that requires one: `configs/tiny.yaml` for `--config`."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator

_WANTED = re.compile(r"config|cfg|manifest|recipe|ya?ml|hparams|settings", re.I)
# where such files are, or how they are called
_PLACES = re.compile(
    r"(?:^|[/_-])(?:configs?|conf|cfgs?|configurations?|recipes?|experiments?|manifests?|hparams)(?=[/_.-]|$)", re.I
)
_OTHERS = re.compile(
    r"(?:^|/)(?:\.[^/]*|docs?|tests?|node_modules|build|dist)/|(?:^|/)(?:\..*|setup\.cfg|pyproject\.toml|package(?:-lock)?\.json|config\.py|conf\.py"
    r"|configuration_\w+\.py|mkdocs\.ya?ml|tox\.ini)$"
)
_SMALL = re.compile(r"debug|tiny|small|mini|nano|toy|example|default|base|test|fast", re.I)
_EXTENSIONS = {"yaml": (".yaml", ".yml"), "json": (".json",), "toml": (".toml",), "configparser": (".ini", ".cfg")}
_ANY = tuple(each for kinds in _EXTENSIONS.values() for each in kinds)
# of an option whose name alone says so
_NAMED = re.compile(r"(?:^|_)(?:config|cfg|conf|recipe|ya?ml|hparams|settings)(?:_?(?:file|path|name))?$", re.I)
_READS = re.compile(r"^(?:open|Path|from_?file|read|parse)|load")
_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg", ".git", "PKG-INFO")
MOST_FOLDERS_ABOVE = 4
MOST_FILES = 5000
READ_S = 1.0


def configuration_file(name: str, words: str, program: str) -> str:
    """The path of a file for the argument ``name`` of ``program``, whose help is ``words``; '' if it takes none, or there is none."""
    if not program or _WANTED.search(f"{name} {words}") is None:
        return ""
    found = list(_files(project_of(program), _extensions(program)))
    folder = os.path.dirname(program)
    return min(
        found, key=lambda path: (_SMALL.search(os.path.basename(path)) is None, _apart(path, folder), path), default=""
    )


def configuration_instead(name: str, words: str, value: object, program: str) -> str:
    """The path of a file for the option ``name`` of ``program`` that nobody passed, where its ``value`` leads to none: it is None, and the
    program reads it without asking, or a file that is not there. '' if the program can do without one, or there is none."""
    if not program or _NAMED.search(name) is None:
        return ""
    if isinstance(value, str):
        is_lacking = bool(value) and value.endswith(_ANY) and not os.path.exists(value)
    else:
        is_lacking = value is None and _is_read(name, _text_of(program))
    return configuration_file(name, words, program) if is_lacking else ""


def _is_read(name: str, text: str) -> bool:
    """Whether a program opens or loads the file that its option ``name`` has, and nowhere asks whether it has one."""
    option = rf"[\w.]*\.{re.escape(name)}\b"
    asks = (
        rf"^[ \t]*(?:el)?if\b[^\n]*\.{re.escape(name)}\b|\.{re.escape(name)}[ \t]+(?:or|is|and|if)\b|\bif[ \t]+{option}"
    )
    called = re.findall(rf"\b(\w+)\(\s*{option}", text)
    return any(map(_READS.search, called)) and re.search(asks, text, re.MULTILINE) is None


def _apart(path: str, folder: str) -> int:
    """How many folders lie between a file and ``folder``."""
    return len(os.path.relpath(path, folder).split(os.sep))


def project_of(program: str) -> str:
    folder = os.path.dirname(os.path.abspath(program))
    own = folder
    for _ in range(MOST_FOLDERS_ABOVE):
        if any(os.path.exists(os.path.join(folder, each)) for each in _PROJECT):
            return folder
        folder = os.path.dirname(folder)
    return own


def _extensions(program: str) -> tuple[str, ...]:
    """The kinds of files that the program reads, by the libraries that it names; any kind where it names none."""
    text = _text_of(program)
    named = [each for word, kinds in _EXTENSIONS.items() if re.search(rf"\b{word}\b", text, re.I) for each in kinds]
    return tuple(named) or (".yaml", ".yml", ".json", ".toml", ".py")


def _text_of(program: str) -> str:
    try:
        with open(program, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def _files(root: str, extensions: tuple[str, ...]) -> Iterator[str]:
    end, count = time.monotonic() + READ_S, 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = os.path.join(place, name)
            inside = os.path.relpath(path, root).replace(os.sep, "/")
            count += 1
            if name.endswith(extensions) and _PLACES.search(inside) and not _OTHERS.search(inside):
                yield path
            if count > MOST_FILES or time.monotonic() > end:
                return
