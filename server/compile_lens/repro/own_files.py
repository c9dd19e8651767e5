"""The files that a program is made of by its own text: what the agent says of their source is compared with what stands in them."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import tree_sitter

from compile_lens.documents.source_file import source_if_readable
from compile_lens.late_pattern import pattern
from compile_lens.pipeline.imported_files import files_of
from compile_lens.syntax.foreign_texts import parse_expression, parse_module
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Query, SourceTree, identifiers, parse

# decorators that the agent leaves out (agent/capture/source_text.py)
_COMPILES = pattern(
    r"@\s*(?:functools\.)?(?:partial\(\s*)?(?:torch\.)?(?:compile|compiler\.compile|_dynamo\.optimize|dynamo\.optimize)\b"
)
_DECORATORS = Query("(decorator) @decorator")
_LAMBDAS = Query("(lambda) @lambda")


class OwnFiles:
    """The file ``main``, with ``text`` as its content, ``others`` that the user named besides, and what these import below ``root``."""

    def __init__(self, main: Path, text: str | None, root: Path | None, others: Iterable[Path] = ()) -> None:
        self.main = main
        self._paths = {path.resolve() for file in (main, *others) for path in files_of(file, root)}
        self._text = text
        self._trees: dict[Path, SourceTree | None] = {}

    def has(self, file: str) -> bool:
        """Whether ``file`` is one of them."""
        return Path(file).resolve() in self._paths

    def has_statement(self, file: str, text: str) -> bool:
        """Whether ``text`` is a statement of ``file``, but for decorators that compile, or another name for what it imports."""
        tree = self._tree(file)
        if tree is None:
            return False
        alias, _, imported = text.partition(" = ")
        is_alias = alias.isidentifier() and imported.isidentifier()
        if is_alias and re.search(rf"\b{imported}\s+as\s+{alias}\b", tree.text):
            return True
        return any(text in (whole, short) for whole, short in _texts(tree, text)) or _has_lambda(tree, text)

    def has_name(self, name: str) -> bool:
        """Whether one of them has a name ``name``."""
        return any(tree is not None and name in _words(tree) for tree in map(self._tree, map(str, self._paths)))

    def imports(self, module: str) -> bool:
        """Whether one of them imports ``module``, or something of the package that it is in, or it is no file beside them."""
        root = module.partition(".")[0]
        folders = {path.parent for path in self._paths}
        is_beside = any((folder / f"{root}.py").exists() or (folder / root).is_dir() for folder in folders)
        return not is_beside or any(
            full.lstrip(".").partition(".")[0] == root or f".{root}." in f".{full}."
            for tree in map(self._tree, map(str, self._paths))
            if tree is not None
            for full in read_imports(tree).names.values()
        )

    def _tree(self, file: str) -> SourceTree | None:
        path = Path(file).resolve()
        if path not in self._trees:
            is_main = path == self.main.resolve() and self._text is not None
            text = self._text if is_main else source_if_readable(str(path)) if path in self._paths else None
            self._trees[path] = parse(text) if text is not None else None
        return self._trees[path]


def _words(tree: SourceTree) -> frozenset[str]:
    return frozenset(tree.node_text(node) for node in identifiers(tree.root))


def _texts(tree: SourceTree, wanted: str) -> Iterator[tuple[str, str]]:
    """The statements of a file that may be ``wanted``, in whole lines at the left margin: with all decorators, and without those that
    compile."""
    lines = tree.text.splitlines(keepends=True)
    left_out = set()
    for node in _DECORATORS.everywhere(tree).get("decorator", []):
        if _COMPILES.match(tree.node_text(node)):
            left_out |= set(range(node.start_point[0], node.end_point[0] + 1))
    last = wanted.splitlines()[-1].strip() if wanted else ""
    for node in _statements(tree.root):
        first, end = node.start_point[0], node.end_point[0] + 1
        if end > len(lines) or lines[end - 1].strip() != last:
            continue
        whole = textwrap.dedent("".join(lines[first:end])).rstrip("\n")
        short = textwrap.dedent("".join(lines[n] for n in range(first, end) if n not in left_out)).rstrip("\n")
        yield whole, short


def _statements(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.parent is not None and each.parent.type in ("module", "block"):
            yield each
        waiting += each.named_children


def _has_lambda(tree: SourceTree, text: str) -> bool:
    """Whether ``text`` gives a lambda of the file a name."""
    try:
        match parse_module(text).body:
            case [ast.Assign([ast.Name()], ast.Lambda() as wanted)]:
                nodes = _LAMBDAS.everywhere(tree).get("lambda", [])
                return any(_dump(tree.node_text(node)) == ast.dump(wanted) for node in nodes)
    except SyntaxError:
        pass
    return False


def _dump(text: str) -> str:
    try:
        return ast.dump(parse_expression(f"({text})"))
    except SyntaxError:
        return ""
