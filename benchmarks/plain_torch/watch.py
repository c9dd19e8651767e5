"""Runs programs under a plain torch and says what torch itself says of each: breaks, recompiles, how it ended.

A script for an interpreter that has torch, started by ``process.py`` with the seconds that a program may take. It hooks Dynamo's own
functions and loggers and knows nothing of this project's trace, reader or findings. Each line of standard input is the path of a
program; each answer is a line of JSON on what was standard output; what the programs print goes to standard error. Each program runs
in a fork of one process that has imported torch, so that none sees what another compiled.
"""

from __future__ import annotations

import json
import logging
import os
import re
import runpy
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import torch
import torch._dynamo.convert_frame
import torch._dynamo.symbolic_convert
import torch._dynamo.utils
from torch._guards import CompileContext

LIBRARY = re.compile(r"/site-packages/|/lib/python3\.\d+/|^<")
GUARD = re.compile(r"\d+/\d+: ")
CODE = re.compile(r"gb(\d+)\.html")


class Watch:
    """Collects what torch says while one program runs."""

    def __init__(self) -> None:
        self.breaks: list[dict[str, Any]] = []
        self.recompiles: list[dict[str, Any]] = []
        self.limits: list[dict[str, Any]] = []
        self.fixed: list[dict[str, Any]] = []
        self.side_effects: list[str] = []

    def install(self) -> None:
        translator = torch._dynamo.symbolic_convert.InstructionTranslatorBase
        log_graph_break = translator.log_graph_break

        def hooked(this: Any, code_options: Any, reason: str, exc: Any) -> None:
            if not exc.logged:
                self.add_break(exc, reason)
            log_graph_break(this, code_options, reason, exc)

        translator.log_graph_break = hooked
        shape_env = torch.fx.experimental.symbolic_shapes.ShapeEnv
        set_replacement = shape_env._set_replacement

        def replacing(this: Any, symbol: Any, target: Any, message: str) -> None:
            before = this.replacements.get(symbol)
            set_replacement(this, symbol, target, message)
            if before != this.replacements.get(symbol) and target.is_number:
                self.fixed.append(
                    {"value": str(target), "stack": lines_of(torch._guards.TracingContext.extract_stack())}
                )

        shape_env._set_replacement = replacing
        # torch forms both messages only for a logger that is on; they are taken as records and printed nowhere
        torch._logging.set_logs(graph_breaks=True, recompiles=True, side_effects=True)
        for module, artifact, take in (
            ("torch._dynamo.convert_frame", "graph_breaks", self.take_skipped),
            ("torch._dynamo.symbolic_convert", "graph_breaks", None),
            ("torch._dynamo.guards", "recompiles", self.take_recompile),
            ("torch._dynamo.side_effects", "side_effects", self.take_side_effect),
        ):
            logger = logging.getLogger(f"{module}.__{artifact}")
            logger.handlers = [Handler(take)] if take is not None else [logging.NullHandler()]
            logger.propagate = False
        logging.getLogger("torch._dynamo.convert_frame").addHandler(Handler(self.take_warning))

    def add_break(self, exc: Any, reason: str) -> None:
        stack = list(getattr(exc, "real_stack", None) or torch._guards.TracingContext.extract_stack())
        stack = [*torch._dynamo.symbolic_convert.get_stack_above_dynamo(), *stack]
        own = next((frame for frame in reversed(stack) if not LIBRARY.search(frame.filename)), None)
        code = CODE.search(reason)
        self.breaks.append(
            {
                "code": f"GB{code.group(1)}" if code else "",
                "file": own.filename if own else "",
                "line": own.lineno if own else 0,
                "innermost": stack[-1].filename if stack else "",
                "stack": lines_of(stack),
                "reason": reason,
            }
        )

    def take_skipped(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.add_break(record.exc_info[1], str(record.exc_info[1]))

    def take_recompile(self, record: logging.LogRecord) -> None:
        first, _, rest = record.getMessage().partition("\n")
        function = re.match(r"Recompiling function (.*) in (.*):(\d+)", first)
        assert function is not None, first
        # after a guard there may be a user stack, which is no guard
        lines = [line.strip().removeprefix("- ") for line in rest.splitlines()[1:]]
        self.recompiles.append(
            {
                "id": str(CompileContext.current_compile_id()),
                "function": function.group(1),
                "file": function.group(2),
                "line": int(function.group(3)),
                "guards": [line for line in lines if GUARD.match(line)],
            }
        )

    def take_side_effect(self, record: logging.LogRecord) -> None:
        self.side_effects.append(record.getMessage())

    def take_warning(self, record: logging.LogRecord) -> None:
        if "hit config" in record.getMessage():
            self.limits.append({"message": record.getMessage()})


class Handler(logging.Handler):
    """Hands each record to a function."""

    def __init__(self, take: Any) -> None:
        super().__init__(logging.DEBUG)
        self.take = take

    def emit(self, record: logging.LogRecord) -> None:
        self.take(record)


def lines_of(stack: Any) -> list[list[Any]]:
    """The files and lines of a stack, outermost first."""
    return [[frame.filename, frame.lineno] for frame in stack]


def run(file: str) -> dict[str, Any]:
    watch = Watch()
    watch.install()
    sys.argv = [file]
    sys.path.insert(0, str(Path(file).parent))
    raised, message, where = "", "", []
    try:
        runpy.run_path(file, run_name="__main__")
    except BaseException as error:
        raised, message = type(error).__name__, str(error)
        where = lines_of(traceback.extract_tb(error.__traceback__))
        traceback.print_exc()
    return {
        "file": file,
        "raised": raised,
        "message": message,
        "where": where,
        "fixed": watch.fixed,
        "side_effects": watch.side_effects,
        "breaks": watch.breaks,
        "recompiles": watch.recompiles,
        "limits": watch.limits,
    }


def stop_after_dynamo() -> None:
    """The ``dynamo`` depth, in words of its own: the default backend keeps its name and runs the graph as it is.

    Whether a Python float stays an input is decided by AOTAutograd, so a graph that reads one goes there.
    """
    from torch._dynamo.backends.debugging import aot_eager_decomp_partition

    def compile_graph(self: Any, model: Any, inputs: Any) -> Any:
        reads_float = any(isinstance(node.meta.get("example_value"), torch.SymFloat) for node in model.graph.nodes)
        return aot_eager_decomp_partition(model, inputs) if reads_float else model.forward

    torch._TorchCompileInductorWrapper.__call__ = compile_graph


def main() -> None:
    deadline = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    stop_after_dynamo()
    for line in sys.stdin:
        file = line.strip()
        pid = os.fork()
        if pid == 0:
            signal.alarm(deadline)
            answers.write(json.dumps(run(file)) + "\n")
            answers.flush()
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        if status != 0:
            answers.write(json.dumps({"file": file, "lost": status}) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
