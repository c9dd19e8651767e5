"""Describes one application of a bisector subsystem while the repro compiles: what it is, where it is written, which lines it affects.

Every lowering, pass and decomposition that the bisector counts calls ``CompilerBisector.disable_subsystem`` first (torch 2.6 to 2.13).
The replacement here counts in the same way, and inspects the caller at the number of the verdict.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import linecache
import logging
import os
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from .. import OWN_FOLDER
from ..runtime.degraded import degraded_if_it_fails, reported
from ..runtime.libraries import torch_folder
from ..torch_internals import core, inductor
from ..torch_internals.options import set_option
from .raised_errors import RaisedErrors, named_operator

_FILE_LINE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.*)')
# records of the structured trace that map kernels to nodes (torch 2.6 has only the last one)
_MAPPINGS = ("inductor_provenance_tracking_node_mappings", "inductor_provenance_tracking_kernel_stack_traces")
_OLD_MAPPINGS = ("inductor_triton_kernel_to_post_grad_nodes",)
_GRAPHS = ("inductor_post_grad_graph", "after_post_grad_graph")
MAX_LINES = 12
# the functions of `register_replacement`, which its check has in its closure (torch/_inductor/pattern_matcher.py, torch 2.6 to 2.13)
REPLACEMENT = {"search_fn": "pattern", "replace_fn": "replacement"}


class SubsystemWatch:
    """Installed before the program runs. Results are written to ``file`` immediately, as JSON.

    ``wanted`` has ``backend``, ``subsystem`` and ``number``; without a subsystem only kernels are recorded.
    """

    def __init__(self, wanted: dict[str, Any], file: str | None) -> None:
        self._wanted = wanted
        self._file = file
        self._count = 0
        self._found: dict[str, Any] = {}
        self._nodes: list[dict[str, Any]] = []
        self._kernels: dict[str, list[str]] = {}
        self._stacks: dict[str, list[str]] = {}
        self._observed: tuple[Any, dict[str, Any]] | None = None
        self._patterns: PatternWatch | None = None
        self._turn_on_provenance()
        self._listen()
        RaisedErrors(self._take_error).install()
        if wanted.get("subsystem"):
            self._install()

    def _write(self) -> None:
        if self._file is None:
            return
        answer = {**self._found, "kernels": self._kernels, "kernel_stacks": self._stacks, "nodes": self._nodes}
        answer["unavailable"] = reported()
        with open(f"{self._file}.new", "w", encoding="utf-8") as file:
            json.dump(answer, file)
        os.replace(f"{self._file}.new", self._file)

    # -- the application

    def _install(self) -> None:
        watch = self

        def disable_subsystem(
            cls: Any, backend: str, subsystem: str, debug_info: Callable[[], str] | None = None
        ) -> bool:
            if (backend, subsystem) == (watch._wanted["backend"], watch._wanted["subsystem"]):
                if watch._count == watch._wanted["number"]:
                    with degraded_if_it_fails("what the verdict applies to"):
                        watch._inspect(sys._getframe(1), debug_info)
                    watch._write()
                watch._count += 1
            return False

        inductor.BISECTOR_DISABLE_SUBSYSTEM.set(classmethod(disable_subsystem))
        if self._wanted["backend"] == "inductor":
            self._patterns = PatternWatch()
        core.PASS_OBSERVER_EXIT.wrap(self._with_pass_inspected)

    def _with_pass_inspected(self, leave: Callable[..., Any]) -> Callable[..., Any]:
        def exit_(observer: Any, *details: Any) -> Any:
            with degraded_if_it_fails("what the pass changed"):
                self._after_pass(observer)
            return leave(observer, *details)

        return exit_

    def _inspect(self, frame: FrameType, debug_info: Callable[[], str] | None) -> None:
        self._found["debug_info"] = debug_info() if debug_info is not None else None
        node, operator = frame.f_locals.get("n"), frame.f_locals.get("op")
        observer: Any = frame.f_locals.get("self")
        if node is not None and hasattr(node, "meta"):
            self._found["node"] = node.name
            self._found["operator"] = str(node.target)
            self._found["source"] = stack_entries(node.meta.get("stack_trace"))
            self._found["places"] = _lowering(node.target)
        elif operator is not None:
            self._found["operator"] = str(operator)
            self._found["source"] = _current_source()
            self._found["places"] = _decomposition(operator, frame.f_locals.get("decomp_table"))
        elif hasattr(observer, "passname"):
            self._found["pass_name"] = observer.passname
            caller = frame.f_back
            function = caller.f_locals.get("pass_fn") if caller is not None else None
            self._found["places"] = [*_function("the pass", function), *_applied(caller)]
            self._observed = (observer, _contents(observer.gm))
            if self._patterns is not None:
                self._patterns.functions.clear()

    def _after_pass(self, observer: Any) -> None:
        """Record what the pass changed: the lines of the nodes that it added, erased or modified."""
        if self._observed is None or self._observed[0] is not observer:
            return
        before, after = self._observed[1], _contents(observer.gm)
        self._observed = None
        changed = [name for name in {**before, **after} if before.get(name, ("",))[0] != after.get(name, ("",))[0]]
        self._found["changed"] = changed[:MAX_LINES]
        source: list[dict[str, Any]] = []
        for name in changed:
            for entry in stack_entries((after.get(name) or before[name])[1] or (before.get(name) or ("", None))[1]):
                if entry not in source:
                    source.append(entry)
        self._found["source"] = source[:MAX_LINES]
        applied = self._patterns.functions if self._patterns is not None else []
        places = [place for label, function in applied for place in _function(label, function)]
        # the user's own first: the rest of the table is torch's
        places.sort(key=lambda place: place["file"].startswith(torch_folder()))
        self._found["places"] = [*places[:MAX_LINES], *self._found["places"]]
        self._write()

    def _take_error(self, error: BaseException) -> None:
        """Take the operator that an error names, if torch's verdict has none."""
        operator = named_operator(str(error))
        if operator and not self._wanted.get("subsystem"):
            self._found["operator"] = operator
            self._write()

    # -- the kernels

    def _turn_on_provenance(self) -> None:
        # a level since torch 2.9, a flag before
        if not set_option("torch._inductor.config.trace.provenance_tracking_level", 1):
            set_option("torch._inductor.config.trace.enabled", False)

    def _listen(self) -> None:
        watch = self

        class Listener(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                with degraded_if_it_fails("the kernels of the verdict"):
                    if watch._take(getattr(record, "metadata", {}), getattr(record, "payload", None)):
                        watch._write()

        core.TRACE_LOG.need().handlers.insert(0, Listener(logging.DEBUG))

    def _take(self, metadata: dict[str, Any], payload: Any) -> bool:
        """Whether the record was of use."""
        name = metadata.get("artifact", {}).get("name", "")
        if "inductor_post_grad_graph" in metadata:  # a record of its own up to torch 2.11, an artifact since
            name = "inductor_post_grad_graph"
        if payload is None or name not in (*_MAPPINGS, *_OLD_MAPPINGS, *_GRAPHS):
            return False
        if name in _GRAPHS:
            self._nodes += _nodes_of(str(payload))
            return True
        content = payload if isinstance(payload, dict) else json.loads(payload)
        if name == _MAPPINGS[0]:
            content = content.get("cppCodeToPost", {})
        members = {kernel: list(nodes) for kernel, nodes in content.items()}
        (self._stacks if name == _MAPPINGS[1] else self._kernels).update(members)
        return True


def stack_entries(stack: Any) -> list[dict[str, Any]]:
    """The user's lines in the text of a node's stack trace, innermost first."""
    own = (torch_folder(), OWN_FOLDER)
    entries = [
        {
            "file": match["file"],
            "line": int(match["line"]),
            "function": match["function"],
            "text": linecache.getline(match["file"], int(match["line"])).strip(),
        }
        for match in _FILE_LINE.finditer(stack or "")
        if not match["file"].startswith(own)
    ]
    return entries[::-1]


def _current_source() -> list[dict[str, Any]]:
    """The line of the node that is being traced (torch/fx/traceback.py)."""
    import torch.fx.traceback as traceback

    meta = traceback.get_current_meta() if hasattr(traceback, "get_current_meta") else {}
    return stack_entries(meta.get("stack_trace") or "".join(traceback.format_stack()))


def _contents(graph_module: Any) -> dict[str, tuple[str, Any]]:
    return {node.name: (node.format_node() or "", node.meta.get("stack_trace")) for node in graph_module.graph.nodes}


_COMMENT = re.compile(r"^\s*# File: (?P<file>.+?):(?P<line>\d+) in (?P<function>[^,]+), code: ?(?P<text>.*)$")
_NODE = re.compile(r"^\s*(?P<name>\w+)(?:: \"[^\"]*\")? = (?P<expression>\S.*)$")


def _nodes_of(text: str) -> list[dict[str, Any]]:
    """Names and lines of the nodes of a printed graph."""
    found: list[dict[str, Any]] = []
    place: dict[str, Any] = {}
    for line in text.splitlines():
        if match := _COMMENT.match(line):
            place = {**match.groupdict(), "line": int(match["line"])}
        elif (match := _NODE.match(line)) and place:
            found.append({"name": match["name"], **place})
    return found


# -- where things are written


def _lowering(target: Any) -> list[dict[str, Any]]:
    lowering: Any = inductor.LOWERING_MODULE.need()
    return [*_function("lowering", lowering.lowerings.get(target)), *_registration(target, lowering)]


def _decomposition(operator: Any, table: Any) -> list[dict[str, Any]]:
    decomposition: Any = inductor.DECOMPOSITION_MODULE.need()
    found = _function("decomposition", (table or {}).get(operator))
    return [*found, *_registration(operator, decomposition)]


def _function(label: str, function: Any) -> list[dict[str, Any]]:
    """Where a function is written, looking through wrappers, ``functools.partial``, bound methods and callable objects."""
    function = getattr(function, "func", function)
    with contextlib.suppress(ValueError):
        function = inspect.unwrap(function)
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None and function is not None and not isinstance(function, type):
        call = vars(type(function)).get("__call__")  # a pass may be a callable object
        code = getattr(call, "__code__", None)
    if code is None:
        return []
    return [
        {
            "label": label,
            "name": code.co_qualname if hasattr(code, "co_qualname") else code.co_name,
            "file": code.co_filename,
            "line": code.co_firstlineno,
        }
    ]


def _registration(target: Any, module: Any) -> list[dict[str, Any]]:
    """The first line of ``module`` that registers ``target`` by its name, as in ``@register_lowering(aten.sum)``."""
    packet = str(getattr(target, "overloadpacket", target)).removeprefix("torch.ops.")
    names = [rf"\b{re.escape(packet)}\b(?!\.\w)", rf"\b{re.escape(str(target))}\b"]
    pattern = re.compile(r"register\w*\(|@register|make_\w+\(")
    file = inspect.getsourcefile(module)
    lines = linecache.getlines(file) if file else []
    for number, line in enumerate(lines, 1):
        if pattern.search(line):
            call = _call(lines[number - 1 : number + MAX_LINES])
            if any(re.search(name, call) for name in names):
                return [{"label": "registered", "name": packet, "file": file, "line": number}]
    return []


def _call(lines: list[str]) -> str:
    """The first call in ``lines``, up to its closing parenthesis."""
    text, depth = "", 0
    for line in lines:
        text += line
        depth += line.count("(") - line.count(")")
        if depth <= 0:
            break
    return text


def _applied(frame: FrameType | None) -> list[dict[str, Any]]:
    """The line that applies a pass: the first caller outside the observer."""
    while frame is not None and frame.f_code.co_filename.endswith("graph_transform_observer.py"):
        frame = frame.f_back
    if frame is None:
        return []
    return [
        {"label": "applied", "name": frame.f_code.co_name, "file": frame.f_code.co_filename, "line": frame.f_lineno}
    ]


class PatternWatch:
    """Records which patterns a pass of the pattern matcher applies: torch's verdict names only the pass that all of them share.

    ``functions`` are those of the patterns that were applied since it was cleared, each once, with a label for the user.
    """

    def __init__(self) -> None:
        self.functions: list[tuple[str, Any]] = []
        for entry in (
            inductor.GRAPH_PATTERN_APPLY,
            inductor.LOWERING_PATTERN_APPLY,
            inductor.REPLACEMENT_PATTERN_APPLY,
        ):
            entry.wrap(self._around_apply)

    def _around_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(entry: Any, *args: Any, **kwargs: Any) -> Any:
            for found in _functions_of(entry):
                if found not in self.functions:
                    self.functions.append(found)
            return original(entry, *args, **kwargs)

        return apply


def _functions_of(entry: Any) -> list[tuple[str, Any]]:
    handler = getattr(entry, "handler", None)
    if handler is not None:
        return [("pattern", handler)]
    check = getattr(entry, "extra_check", None)
    names = getattr(getattr(check, "__code__", None), "co_freevars", ())
    cells = dict(zip(names, getattr(check, "__closure__", None) or (), strict=False))
    return [(label, cells[name].cell_contents) for name, label in REPLACEMENT.items() if name in cells]
