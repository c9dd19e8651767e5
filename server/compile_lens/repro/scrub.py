"""Removes personal data from a text: paths, the user's name, the machine's name."""

from __future__ import annotations

import getpass
import re
import socket
from pathlib import Path

# an absolute path, but not a URL
POSIX = re.compile(r"(?<![\w:/.])(?:~|/(?:[\w.@+~-]+/)+)[\w.@+~-]*")
WINDOWS = re.compile(r"\b[A-Za-z]:\\(?:[^\\\s:*?\"<>|]+\\)*[^\\\s:*?\"<>|]*")
PACKAGES = re.compile(r"^.*?(?:site-packages|dist-packages)[/\\]")
# names that are also words
COMMON = {"root", "user", "admin", "ubuntu", "runner", "build", "localhost", "python", "torch", "default"}
SHORTEST = 3


def scrub(text: str) -> str:
    """``text`` with paths shortened to the part inside installed packages, or to their last component."""
    text = POSIX.sub(lambda match: _short(match.group(), "/"), text)
    text = WINDOWS.sub(lambda match: _short(match.group(), "\\"), text)
    for name, word in ((_user(), "<user>"), (socket.gethostname(), "<machine>")):
        if len(name) >= SHORTEST and name.lower() not in COMMON:
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", word, text)
    return text


def _short(path: str, separator: str) -> str:
    inside = PACKAGES.sub("", path)
    if inside != path:
        return inside
    return path.rstrip(separator).rpartition(separator)[2] or path


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return Path.home().name
