"""``python -m tests.compat.names`` looks for torch's private names in the wheels of its releases, which it does not install.

It takes 20 seconds and 70 MB of network for each release, and says which rows of ``agent/torch_internals`` claim a name for a release
that lacks it, or the other way around. Names that C++ defines, that a base class has or that are made at import cannot be read that way.
"""

from __future__ import annotations

import ast
import io
import json
import sys
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urljoin

import click
from tests.entries.agent_package import agent_module

RELEASES = ("2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.0", "2.13.0")
INDEX = "https://pypi.org"
# the smallest of all, and its Python is that of the others
PLATFORM = "macosx"
TIMEOUT_S = 300


class Wheel:
    """The sources in a wheel of torch."""

    def __init__(self, release: str) -> None:
        with urllib.request.urlopen(f"{INDEX}/pypi/torch/json", timeout=TIMEOUT_S) as answer:
            files = json.load(answer)["releases"][release]
        smallest = min((file for file in files if PLATFORM in file["filename"]), key=lambda file: int(file["size"]))
        with urllib.request.urlopen(urljoin(f"{INDEX}/simple/torch/", smallest["url"]), timeout=TIMEOUT_S) as answer:
            self._archive = zipfile.ZipFile(io.BytesIO(answer.read()))
        self._files = frozenset(self._archive.namelist())
        self._known: dict[str, ast.Module | None] = {}

    def module(self, name: str) -> ast.Module | None:
        """The source of a module; None where there is none."""
        if name not in self._known:
            path = name.replace(".", "/")
            file = next((file for file in (f"{path}.py", f"{path}/__init__.py") if file in self._files), None)
            self._known[name] = ast.parse(self._archive.read(file)) if file is not None else None
        return self._known[name]

    def has(self, path: str) -> bool | None:
        """Whether ``module:name.name`` is there; None where its source does not tell."""
        name, _, attribute = path.partition(":")
        module = self.module(name)
        if module is None:
            return None if name.startswith("torch._C") else False
        scope: ast.stmt | ast.Module | None = module
        for part in attribute.split(".") if attribute else ():
            if not isinstance(scope, (ast.Module, ast.ClassDef)):
                return None
            bound = dict(bindings(scope.body))
            if part not in bound:
                return None if is_open(scope) else False
            scope = bound[part]
        return True


def bindings(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Each name that the statements bind, with what binds it."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name, statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from (((alias.asname or alias.name).split(".")[0], statement) for alias in statement.names)
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            yield from bindings(child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt))
            for handler in getattr(statement, "handlers", ()):
                yield from bindings(handler.body)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = (node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
            yield from ((node.id, statement) for node in names)


def is_open(scope: ast.Module | ast.ClassDef) -> bool:
    """Whether a scope may have names that it does not write down."""
    if isinstance(scope, ast.ClassDef):
        return bool(scope.bases or scope.decorator_list)
    text = ast.unparse(scope)
    return "import *" in text or "globals()" in text or "install_config_module(" in text or "_C." in text


def differences(release: str, wheel: Wheel) -> Iterator[str]:
    """What rows say of a release and its wheel does not."""
    version = tuple(map(int, release.split(".")[:2]))
    for row in sorted(set(agent_module("torch_internals").declared()), key=lambda row: str(row.path)):
        claimed = row.since <= version and (row.until is None or version <= row.until)
        found = wheel.has(row.path)
        if found is not None and found != claimed and not row.supplied:
            yield f"{release}: {row.path} is {'there' if found else 'missing'}; since={row.since}, until={row.until}"


@click.command()
@click.argument("releases", nargs=-1)
def main(releases: tuple[str, ...]) -> None:
    """Look into the wheels of RELEASES, or of one of each minor version from 2.6 on. The exit code is 1 if a row is wrong."""
    wrong = [line for release in releases or RELEASES for line in differences(release, Wheel(release))]
    click.echo("\n".join(wrong) or "All rows are right.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    main()
