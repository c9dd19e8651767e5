"""Finds the folder that a script is meant to be started in, by the files that it names: `configs/small.yaml` of the project's root."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...runtime.parsed_source import parsed

# relative, with a folder or with the ending of a file
_PATH = re.compile(
    r"(?:\./|(?:\.\./)+)?(?:[\w.-]+/)+[\w.-]+|[\w-]+\.(?:ya?ml|json|toml|ini|csv|tsv|txt|npy|npz|pth?|pkl|h5)"
)
MOST_PATHS = 200
MOST_ABOVE = 6


@dataclass(frozen=True)
class WorkingFolder:
    """A folder, and one of the paths that are there."""

    folder: str
    path: str


def working_folder(source: str, file: str, root: str) -> WorkingFolder | None:
    """The nearest folder from that of ``file`` up to ``root`` with most of the files that ``source`` names; None where some of them are
    in the current folder, or none are anywhere."""
    named = list(_named(source))
    if not named or any(map(os.path.exists, named)):
        return None
    found = [
        (folder, [path for path in named if os.path.exists(os.path.join(folder, path))])
        for folder in _above(file, root)
    ]
    folder, there = max(found, key=lambda each: len(each[1]), default=("", []))
    return WorkingFolder(folder, there[0]) if there else None


def _named(source: str) -> Iterator[str]:
    tree = parsed(source)
    nodes = ast.walk(tree) if tree is not None else ()
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    named = dict.fromkeys(text for text in texts if len(text) < 200 and _PATH.fullmatch(text))
    yield from list(named)[:MOST_PATHS]


def _above(file: str, root: str) -> Iterator[str]:
    folder = os.path.dirname(file)
    for _ in range(MOST_ABOVE):
        yield folder
        if folder == root or os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)
