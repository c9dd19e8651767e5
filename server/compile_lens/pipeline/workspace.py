"""Finds the Python files of a workspace that mention a file by name, within limits of number, size and time."""

from __future__ import annotations

import os
import re
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

from compile_lens.agent.runtime.regular_file import read_regular, read_regular_text
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.entries.importers import WorkspaceFile
from compile_lens.late_pattern import pattern
from compile_lens.pipeline.notebook_examples import notebook_programs
from compile_lens.pipeline.page_definitions import PageDefinitions
from compile_lens.syntax.tree import Query, SourceTree, parse
from compile_lens.trace.walked import walked

MAX_FILES = 4_000
MAX_READ = 60
LARGEST = 400_000
SECONDS = 1.5
SKIPPED = frozenset(
    [
        "node_modules",
        "site-packages",
        "dist-packages",
        "__pycache__",
        "venv",
        "env",
        "build",
        "dist",
    ]  # and what begins with a dot
)


MAX_PAGES = 12
# of all pages, and the length of their code with what they need of others
MAX_EXAMPLES, MOST_CODE = 200, 1_000_000
PAGES = ("README*", "docs/*.md", "docs/*.rst", "docs/*/*.md", "docs/*/*.rst")
# fenced code, and that of reStructuredText
_BLOCKS = pattern(
    r"^[ \t]*```+ *(?:python|py)\b[^\n]*\n(.*?)^[ \t]*```|^\.\. code(?:-block)?:: *python\n\s*\n((?:[ \t]+[^\n]*\n|\n)+)",
    re.M | re.S,
)
_IMPORTS = Query("(module [(import_statement) (import_from_statement)] @import)")
# what stands in the top folder of a project
MARKS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")


def workspace_root(file: Path) -> Path | None:
    """The nearest folder above ``file`` that is a project's, not counting a home directory; None outside of projects."""
    home = Path.home()
    for folder in file.absolute().parents:
        if folder == home:
            return None
        if any((folder / mark).exists() for mark in MARKS):
            return folder
    return None


def mentioning(file: Path, root: Path) -> tuple[WorkspaceFile, ...]:
    """The files below ``root`` in which the name of ``file``, or of its package, stands as a word; tests first."""
    stem = file.parent.name if file.stem == "__init__" else file.stem
    names = {stem, file.parent.name} if (file.parent / "__init__.py").exists() else {stem}
    pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(os.fsencode(name)) for name in sorted(names)) + rb")\b")
    found: list[WorkspaceFile] = []
    deadline = time.monotonic() + SECONDS
    for path in sorted(_python_files(root, deadline), key=lambda path: (not path.name.startswith("test_"), str(path))):
        if len(found) >= MAX_READ or time.monotonic() > deadline:
            break
        try:
            if path == file or not pattern.search(read_regular(path)):
                continue
            tree = parse(read_source(path))
            # of a text that is no program, nothing but an error is left
            if any(node.type != "ERROR" for node in tree.root.named_children):
                found.append(WorkspaceFile(str(path), tree))
        except (OSError, FileProblem):
            continue
    return tuple(found)


def documented_examples(root: Path) -> tuple[WorkspaceFile, ...]:
    """The Python code in the README, in the pages of ``root``'s documentation and in its notebooks: each example as a file, with the path
    of its page.

    Each has what the examples before it on its page import, and what it uses of their definitions. A notebook is one example.
    """
    found: list[WorkspaceFile] = []
    length = 0
    pages = [each for kind in PAGES for each in sorted(root.glob(kind))]
    for page in pages[:MAX_PAGES]:
        try:
            text = read_regular_text(page)[:LARGEST]
        except OSError:
            continue
        imports: dict[str, None] = {}
        definitions = PageDefinitions()
        for fenced, indented in _BLOCKS.findall(text):
            example = parse(textwrap.dedent(fenced or indented))
            before = "".join(f"{each}\n" for each in imports) + definitions.before(example)
            length += len(before) + len(example.text)
            if len(found) >= MAX_EXAMPLES or length > MOST_CODE:
                break
            found.append(WorkspaceFile(str(page), parse(f"{before}{example.text}") if before else example))
            imports |= dict.fromkeys(_imports(example))
            definitions.read(example)
    found += [WorkspaceFile(str(page), parse(text)) for page, text in notebook_programs(root)]
    return tuple(found)


def _imports(tree: SourceTree) -> Iterator[str]:
    """The import statements at the top of a text; none of one that is no program."""
    if not tree.root.has_error:
        for node in _IMPORTS.everywhere(tree).get("import", []):
            yield tree.node_text(node)


def _python_files(root: Path, deadline: float) -> Iterator[Path]:
    count = 0
    for folder, names, files in walked(root):
        if time.monotonic() > deadline:
            return
        names[:] = [n for n in names if not n.startswith(".") and n not in SKIPPED and not n.endswith(".egg-info")]
        for name in files:
            if not name.endswith(".py"):
                continue
            path = Path(folder) / name
            count += 1
            if count > MAX_FILES or time.monotonic() > deadline:
                return
            try:
                if path.stat().st_size <= LARGEST:
                    yield path
            except OSError:
                continue
