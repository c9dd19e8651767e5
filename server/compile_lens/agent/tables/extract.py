"""Writes the tables of an installed torch to a zip file: ``boot.py tables OUTPUT``.

Each table is kept beside OUTPUT as soon as it was read, so that an interrupted reading goes on from there, and its name is printed.

``boot.py tables OUTPUT ROOT`` reads the sources under ROOT, the folder that contains ``torch``, without importing them. It leaves out
what only a running torch knows: operators, and the documentation of functions.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import json
import os
import re
import shutil
import sys
import time
import zipfile
from collections.abc import Callable
from functools import partial
from typing import Any

from ..runtime import device_backends
from ..runtime.session_niceness import set_session_niceness
from . import arguments, artifacts, classes, codes, environment, exceptions, kernels, logs, options
from .source import read

# increased with any change of the format, so that older files are extracted again
FORMAT = 2
Table = dict[str, dict[str, Any]]


def _triton(root: str) -> Table:
    """Names of triton, from its own folder if it is not installed beside torch."""
    spec = importlib.util.find_spec("triton") if not os.path.isdir(os.path.join(root, "triton")) else None
    found = kernels.triton_names(root)
    if spec is None or spec.origin is None:
        return found
    return {**kernels.triton_names(os.path.dirname(os.path.dirname(os.path.abspath(spec.origin)))), **found}


STATIC: dict[str, Callable[[str], Table]] = {
    "log": logs.log_names,
    "option": options.options,
    "environment": environment.environment_variables,
    "code": codes.break_codes,
    "exception": exceptions.exceptions,
    "argument": arguments.compile_arguments,
    "mode": arguments.modes,
    "backend": arguments.backends,
    "ir": classes.inductor_classes,
    "ops": classes.handler_operations,
    "virtualized": classes.virtualized_names,
    "variable": classes.variable_trackers,
    "guard": classes.guards,
    "triton": _triton,
    "artifact": artifacts.trace_artifacts,
    "file": artifacts.debug_files,
    "bisect": artifacts.bisect_names,
}
# read from the running torch
LIVE = ("operator", "function")


def main(argv: list[str]) -> int:
    """Extract the tables and write ``argv[0]`` atomically. Exit code 3: torch is not installed."""
    began = time.monotonic()
    output, root = argv[0], argv[1] if len(argv) > 1 else None
    live = root is None
    if root is None:
        spec = importlib.util.find_spec("torch")
        if spec is None or spec.origin is None:
            print("torch is not installed", file=sys.stderr)
            return 3
        root = os.path.dirname(os.path.dirname(os.path.abspath(spec.origin)))
    if live and hasattr(os, "nice"):
        # a background task: the user's programs come first, and runs in the sandbox, which have a low priority themselves
        os.nice(19)
        set_session_niceness(19)
    # syntax trees are many objects and no cycles: collections took two thirds of the time
    gc.disable()
    tables = _Tables(f"{output}.parts", len(STATIC) + (len(LIVE) if live else 0))
    for kind, extract in STATIC.items():
        # the defaults of options come from the running torch, which is slow to import
        if not (live and kind == "option"):
            tables.add(kind, partial(extract, root))
    if live:
        _add_live_tables(tables, root)
    manifest = {
        "format": FORMAT,
        "torch": _version(root, "torch/version.py") or "",
        "triton": _version(root, "triton/__init__.py") or "",
        "python": ".".join(map(str, sys.version_info[:3])),
        "root": root,
        "live": live,
        "seconds": round(time.monotonic() - began, 1),
    }
    _write(output, manifest, tables.read)
    shutil.rmtree(tables.folder, ignore_errors=True)
    return 0


class _Tables:
    """The tables that were read, each kept in a file of ``folder`` until all are there."""

    def __init__(self, folder: str, number: int) -> None:
        self.folder = folder
        self.number = number
        self.read: dict[str, Table] = {}
        # two editors may read the same torch; the folder is gone when the first is done
        with contextlib.suppress(OSError):
            os.makedirs(folder, exist_ok=True)

    def add(self, kind: str, extract: Callable[[], Table]) -> None:
        path = os.path.join(self.folder, f"{kind}.json")
        try:
            with open(path, encoding="utf-8") as file:
                self.read[kind] = json.load(file)
        except (OSError, ValueError):
            table = self.read[kind] = extract()
            with contextlib.suppress(OSError):
                with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
                    json.dump(table, file)
                os.replace(f"{path}.{os.getpid()}", path)
        print(f"{kind} {len(self.read)}/{self.number}", flush=True)


def _add_live_tables(tables: _Tables, root: str) -> None:
    from . import functions, operators

    real = os.path.realpath(root) + os.sep

    def relative(path: str) -> str | None:
        full = os.path.realpath(path)
        return full[len(real) :].replace(os.sep, "/") if full.startswith(real) else None

    def live_options() -> Table:
        found = options.options(root)
        options.add_live_values(found, root)
        return found

    places = operators.SourceLocations(root, relative)
    # operators first: they watch the import of Inductor's lowerings
    with device_backends.only_installed():
        tables.add("operator", lambda: operators.operators(places))
    tables.add("function", lambda: functions.functions(places))
    tables.add("option", live_options)


def _version(root: str, path: str) -> str | None:
    source = read(root, path)
    match = (
        re.search(r"^__version__\s*(?::[^=]*)?=\s*['\"]([^'\"]+)", source.text, re.MULTILINE)
        if source is not None
        else None
    )
    return match.group(1) if match is not None else None


def _write(output: str, manifest: dict[str, Any], tables: dict[str, Table]) -> None:
    partial = f"{output}.{os.getpid()}.partial"
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in {"manifest": manifest, **tables}.items():
            # a fixed date, so that the same torch gives the same file
            member = zipfile.ZipInfo(f"{name}.json", (2020, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, json.dumps(content, separators=(",", ":"), ensure_ascii=False))
    os.replace(partial, output)
