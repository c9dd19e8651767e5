"""Writes the tables of an installed torch to a zip file: ``boot.py tables OUTPUT``.

``boot.py tables OUTPUT ROOT`` reads the sources under ROOT, the folder that contains ``torch``, without importing them. It leaves out
what only a running torch knows: operators, and the documentation of functions.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import time
import zipfile
from collections.abc import Callable
from typing import Any

from . import arguments, artifacts, classes, codes, environment, kernels, logs, options
from .source import read

# increased with any change of the format, so that older files are extracted again
FORMAT = 1
Table = dict[str, dict[str, Any]]
STATIC: dict[str, Callable[[str], Table]] = {
    "log": logs.log_names,
    "option": options.options,
    "environment": environment.environment_variables,
    "code": codes.break_codes,
    "argument": arguments.compile_arguments,
    "mode": arguments.modes,
    "backend": arguments.backends,
    "ir": classes.inductor_classes,
    "ops": classes.handler_operations,
    "virtualized": classes.virtualized_names,
    "variable": classes.variable_trackers,
    "guard": classes.guards,
    "triton": kernels.triton_names,
    "artifact": artifacts.trace_artifacts,
    "file": artifacts.debug_files,
    "bisect": artifacts.bisect_names,
}


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
    tables: dict[str, Table] = {}
    if live:
        if hasattr(os, "nice"):
            os.nice(10)  # a background task: the user's programs come first
        tables |= _live_tables(root)
    for kind, extract in STATIC.items():
        tables[kind] = extract(root)
    _add_separate_triton(root, tables)
    if live:
        options.add_live_values(tables["option"])
    manifest = {
        "format": FORMAT,
        "torch": _version(root, "torch/version.py") or "",
        "triton": _version(root, "triton/__init__.py") or "",
        "python": ".".join(map(str, sys.version_info[:3])),
        "root": root,
        "live": live,
        "seconds": round(time.monotonic() - began, 1),
    }
    _write(output, manifest, tables)
    return 0


def _live_tables(root: str) -> dict[str, Table]:
    from . import functions, operators

    real = os.path.realpath(root) + os.sep

    def relative(path: str) -> str | None:
        full = os.path.realpath(path)
        return full[len(real) :].replace(os.sep, "/") if full.startswith(real) else None

    return {"operator": operators.operators(root, relative), "function": functions.functions(root, relative)}


def _add_separate_triton(root: str, tables: dict[str, Table]) -> None:
    """Read triton from its own folder if it is not installed beside torch."""
    spec = importlib.util.find_spec("triton") if not os.path.isdir(os.path.join(root, "triton")) else None
    if spec is not None and spec.origin is not None:
        elsewhere = kernels.triton_names(os.path.dirname(os.path.dirname(os.path.abspath(spec.origin))))
        tables["triton"] = {**elsewhere, **tables["triton"]}


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
