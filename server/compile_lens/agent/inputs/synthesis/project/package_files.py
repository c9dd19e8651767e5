"""Lists the Python files of the package that a file is a part of, and reads those that mention a name."""

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Iterator

from ....runtime.parsed_source import parsed
from ....runtime.regular_file import read_regular_text

MOST_FILES = 1500
# for reading the files of a package
READ_S = 1.5
LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|benchmarks?|scripts?)/|(?:^|/)(?:test_\w+|\w+_test|setup|conftest)\.py$"
)
SMALL = re.compile(r"(?:^|_)(?:debug|tiny|small|mini|nano|micro|base|toy|xs|s|b)(?:_|\d|$)|_?(?:18|small|tiny)$")


def statements_mentioning(path: str, pattern: str) -> list[ast.stmt]:
    """The top-level statements of a file whose text has ``pattern``; none of one that cannot be read."""
    try:
        text = read_regular_text(path)
    except OSError:
        return []
    tree = parsed(text) if re.search(pattern, text) is not None else None
    return tree.body if tree is not None else []


def package_files(file: str, name: str) -> Iterator[tuple[str, str]]:
    """The Python files of the package that ``file``, the module ``name``, is in, those beside it first; and their dotted names."""
    package = name.rpartition(".")[0]
    depth = len(package.split(".")) if package else 0
    folder = os.path.dirname(file)
    top = folder
    for _ in range(depth - 1):
        top = os.path.dirname(top)
    above = package.partition(".")[0]
    end, count = time.monotonic() + READ_S, 0
    near = sorted(os.walk(top), key=lambda entry: not folder.startswith(entry[0]) and not entry[0].startswith(folder))
    for place, folders, names in near:
        folders[:] = [each for each in folders if each.isidentifier()]
        inside = os.path.relpath(place, top).split(os.sep) if place != top else []
        if not all(part.isidentifier() for part in inside):
            continue
        for each in sorted(names):
            stem, extension = os.path.splitext(each)
            if extension == ".py" and stem.isidentifier() and stem != "__init__":
                count += 1
                yield os.path.join(place, each), ".".join([*([above] if above else []), *inside, stem])
            if count > MOST_FILES or time.monotonic() > end:
                return
