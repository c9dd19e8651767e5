"""Runs programs of the corpus: once eagerly, noting what executes, and once compiled. Used by generated scripts."""

from __future__ import annotations

import importlib
import importlib.util
import json
import runpy
import signal
import sys
import types
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch._dynamo import convert_frame

from benchmarks.prediction_corpus.program import Program

LIMIT_S = 40
# line and column, end line and end column: from 1, ends exclusive, columns in bytes
Places = dict[str, list[tuple[int, int, int, int]]]


class TooLong(Exception):
    """A program that takes longer than the corpus has time for."""


def drive(programs: list[dict[str, Any]], paths: dict[str, str], output: str) -> None:
    """Run each program; append a line of JSON to ``output`` with its name, how it ended, and what of the sources it executed."""
    signal.signal(signal.SIGALRM, _too_long)
    for fields in programs:
        program = Program(**fields)
        signal.alarm(LIMIT_S)
        places: Places = {}
        try:
            run = _script if program.is_script else _subject
            places = run(program, paths[program.module])
            status = "ok"
        except Exception as error:
            status = f"{type(error).__name__}: {error}"[:300]
        finally:
            signal.alarm(0)
        with Path(output).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": program.name, "status": status, "places": places}) + "\n")


def _too_long(*_: Any) -> None:
    raise TooLong


def _prepared(program: Program, path: str) -> dict[str, Any]:
    names: dict[str, Any] = {"torch": torch, "module": _module(program, path)}
    torch.manual_seed(0)
    exec(program.setup, names)
    return names


def _module(program: Program, path: str) -> types.ModuleType:
    if not program.is_copied:
        return importlib.import_module(program.module)
    name = f"corpus_{program.module.replace('.', '_')}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def _subject(program: Program, path: str) -> Places:
    """Once eagerly; then compiled, with a subject that is new."""
    names = _prepared(program, path)
    names["f"] = eval(program.subject, names)
    places = _noting_places(path, lambda: eval(program.call, names))
    _forget()
    names = _prepared(program, path)
    names["f"] = torch.compile(eval(program.subject, names))
    eval(program.call, names)
    return places


def _script(program: Program, path: str) -> Places:
    """The whole program, without torch.compile and with it."""
    # what it imports stands beside it
    sys.path.insert(0, str(Path(path).parent))
    with torch._dynamo.config.patch(disable=True):
        places = _noting_places(path, lambda: runpy.run_path(path, run_name="__main__"))
    _forget()
    runpy.run_path(path, run_name="__main__")
    return places


def _forget() -> None:
    """``torch._dynamo.reset``, but frames go on being counted: the report knows a compilation by its number."""
    counted = convert_frame.FRAME_COUNTER
    torch._dynamo.reset()
    convert_frame.FRAME_COUNTER = counted


def _noting_places(path: str, run: Callable[[], object]) -> Places:
    """The places of the instructions of ``path`` that execute: a condition that is not evaluated does not count."""
    offsets: dict[types.CodeType, set[int]] = defaultdict(set)

    def on_instruction(frame: types.FrameType, event: str, _: Any) -> Any:
        offsets[frame.f_code].add(frame.f_lasti)
        return on_instruction

    def on_call(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != path:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return on_instruction

    sys.settrace(on_call)
    try:
        run()
    finally:
        sys.settrace(None)
    places: set[tuple[int, int, int, int]] = set()
    for code, executed in offsets.items():
        positions = list(code.co_positions())
        for offset in executed:
            line, end_line, column, end_column = positions[max(offset, 0) // 2]
            if None not in (line, end_line, column, end_column):
                places.add((line, column + 1, end_line, end_column + 1))  # type: ignore[operator,arg-type]
    return {path: sorted(places)}
