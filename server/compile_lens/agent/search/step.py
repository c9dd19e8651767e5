"""Runs one step of a search: the repro in a process of its own, with torch's bisector in the current state.

The step is a forked child of the driver, or a fresh process (``boot.py step FILE``, where FILE holds the setup). Either way the state is
read from the driver's folder of files, as torch reads it, and only the scratch folder and the caches in the environment are written.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from .. import OWN_FOLDER
from ..runtime import atomic_compiler_output, precompiled_headers, processes
from ..runtime.program import run as run_program
from ..runtime.protocol import AgentEvent, FileUnreadable, ProgramRaised
from ..runtime.wire import Wire
from ..torch_internals.inductor import HEADER_PRECOMPILER
from ..torch_internals.options import set_option
from . import torch_bisector
from .bisect_watch import SubsystemWatch
from .minify_capture import capture
from .raised_errors import written_to
from .step_setup import StepSetup

# sysexits.h: an internal error of the program
BROKEN = 70


def main(arguments: list[str]) -> int:
    """Entry point of a fresh process for one step."""
    processes.die_with_parent()
    faulthandler.enable()
    with open(arguments[0], encoding="utf-8") as file:
        return run_step(StepSetup(**json.load(file)))


def run_step(setup: StepSetup) -> int:
    """Configure torch, run the repro, and return its exit code. This process is of no further use: the program may have changed it."""
    _set_environment(setup)
    os.chdir(setup.cwd)
    sys.path.append(setup.cwd)  # a reduced repro is in another folder, and imports what the original does
    _use_private_files(setup.scratch)
    import torch

    sys.dont_write_bytecode = True
    _set_bisector(setup)
    if setup.disabled:
        set_option("torch._dynamo.config.disable", True)
        # otherwise fullgraph=True raises because nothing was compiled (torch/_dynamo/eval_frame.py, torch 2.13)
        torch.compiler.set_stance("force_eager")
    # a graph cached by one step would spare another its passes and lowerings; object files are still shared
    for name in ("torch._inductor.config.fx_graph_cache", "torch._functorch.config.enable_autograd_cache"):
        set_option(name, False)
    for name, value in setup.options.items():
        set_option(name, value)
    if setup.capture and setup.answer is not None:
        return capture(setup.file, setup.answer)
    if setup.watch is not None:
        SubsystemWatch(setup.watch, setup.answer)
    if setup.strict and setup.answer is not None:
        written_to(setup.answer).install()
    return _run(setup)


def _run(setup: StepSetup) -> int:
    listener = _Listener(os.open(os.devnull, os.O_WRONLY))
    code = run_program(setup.file, None, setup.argv, listener, OWN_FOLDER)
    return BROKEN if setup.strict and listener.raised not in (None, "SystemExit") else code


class _Listener(Wire):
    """Records how the program ended instead of reporting it."""

    raised: str | None = None

    def tell(self, event: AgentEvent) -> None:
        if isinstance(event, ProgramRaised):
            self.raised = event.type
        elif isinstance(event, FileUnreadable):
            self.raised = event.name


def _set_environment(setup: StepSetup) -> None:
    for name in [name for name in os.environ if name.startswith("TORCH_BISECT_")]:
        del os.environ[name]
    # a repro written by Compile Lens leaves the caches alone when this is set (repro/contract.py)
    os.environ["TORCH_REPRO_KEEP_CACHE"] = "1"
    os.environ.setdefault("MPLBACKEND", "Agg")
    if setup.backend is not None:
        os.environ["TORCH_COMPILE_BACKEND"] = setup.backend


def _use_private_files(scratch: str) -> None:
    """Put temporary files into the scratch folder, and precompiled headers into the cache of the environment."""
    folder = os.path.join(scratch, "tmp")
    os.makedirs(folder, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    atomic_compiler_output.install(scratch)
    if precompiled_headers.keep_private():
        HEADER_PRECOMPILER.wrap(_remembering_headers)


def _remembering_headers(original: Callable[..., Any]) -> Callable[..., Any]:
    """Share paths of precompiled headers between steps: to preprocess torch's headers only to find them unchanged takes a second."""
    memory = os.path.join(tempfile.gettempdir(), "headers.json")

    def precompile(header: str, hashable_cmd_line: str, **command: Any) -> Any:
        key = f"{header}\n{hashable_cmd_line}\n{sorted(command.items(), key=str)}"
        known: dict[str, str] = {}
        with contextlib.suppress(OSError, ValueError), open(memory, encoding="utf-8") as file:
            known = json.load(file)
        if key not in known or not os.path.exists(f"{known[key]}.gch"):
            known[key] = original(header, hashable_cmd_line, **command)
            with open(memory, "w", encoding="utf-8") as file:
                json.dump(known, file)
        return known[key]

    return precompile


def _set_bisector(setup: StepSetup) -> None:
    """Let torch's bisector read the state that the driver wrote; without a bisection, turn it off."""
    if torch_bisector.load() is None:
        return
    torch_bisector.set_state(setup.state or torch_bisector.no_state(setup.scratch), setup.state is not None)
    if setup.state is not None and setup.backend is not None:
        # torch sets it for the commands of its own `run`; a program may read it
        os.environ["TORCH_BISECT_BACKEND"] = setup.backend
