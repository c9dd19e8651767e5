"""One step of a search: the repro in a process of its own, with torch's bisector in the state of the moment.

On Linux the step is a forked child of the driver, which has torch imported; elsewhere, or where a GPU was touched, it is a fresh
process (``boot.py step FILE``, where FILE says what to do). Either way the state is read from the driver's folder of files, as torch
reads it (torch/_inductor/compiler_bisector.py, torch 2.6 to 2.13), and nothing outside of the scratch folder and the caches of the
environment is written.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import faulthandler
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from .. import OWN_FOLDER
from ..runtime import precompiled_headers, processes
from ..runtime.program import run as run_program
from ..runtime.protocol import AgentEvent, FileUnreadable, ProgramRaised
from ..runtime.wire import Wire
from . import atomic_compiler_output, step_warmup

BOOT = os.path.join(OWN_FOLDER, "boot.py")
OUTPUT_KEPT = 8_000
# sysexits.h: an internal error of the program
BROKEN = 70
POLL_S = 0.01


@dataclasses.dataclass
class Setup:
    """What a step runs, and how torch is set before it does.

    ``state`` is the folder of the bisector's files, None without a bisection; ``backend`` goes to the repro as
    ``TORCH_COMPILE_BACKEND``. ``options`` are values of torch's options by dotted name. ``watch`` asks for what one application of a
    subsystem is: see ``bisect_watch``; the answer is written to ``answer`` as it grows, for the program may crash. With ``capture`` the
    program is not run, but its graphs are written to ``answer``. ``strict``: a program that an exception ends has judged nothing.
    """

    file: str
    cwd: str
    scratch: str
    argv: list[str] = dataclasses.field(default_factory=list)
    backend: str | None = None
    state: str | None = None
    disabled: bool = False
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    watch: dict[str, Any] | None = None
    answer: str | None = None
    capture: bool = False
    strict: bool = False


@dataclasses.dataclass
class Ended:
    """How a step's process ended: exit code or signal; ``timeout`` if it was ended. ``output`` is the end of what it printed."""

    code: int
    signal: int
    timeout: bool
    seconds: float
    output: str
    crash_stack: str

    @property
    def good(self) -> bool:
        return self.code == 0 and not self.signal and not self.timeout


@dataclasses.dataclass
class Running:
    """A forked step. ``memory`` is what it used at most, in bytes, once it has ended."""

    pid: int
    prefix: str
    started: float
    ended: Ended | None = None
    memory: int = 0


class Steps:
    """Runs steps. ``forks``: as children of this process, several at once if need be; otherwise as fresh processes."""

    def __init__(self, scratch: str, limit_s: float, forks: bool) -> None:
        self.scratch = scratch
        self.limit_s = limit_s
        self.forks = forks
        self.spared: set[int] = set()
        self._number = 0

    def run(self, setup: Setup) -> Ended:
        """Run one step to its end, or to its time limit; nothing that it started is left."""
        if self.forks:
            return self.wait(self.start(lambda: be(setup)))
        self._number += 1
        prefix = os.path.join(self.scratch, f"step-{self._number}")
        started = time.monotonic()
        with open(f"{prefix}.out", "wb") as output:
            how = self._spawn(setup, prefix, output.fileno())
        return _ended(prefix, started, *how)

    def start(self, body: Callable[[], int]) -> Running:
        """Fork a step whose process does ``body`` and ends with the exit code that it returns."""
        self._number += 1
        prefix = os.path.join(self.scratch, f"step-{self._number}")
        started = time.monotonic()
        with open(f"{prefix}.out", "wb") as output, open(f"{prefix}.crash", "wb") as crash:
            pid = self._fork(body, output.fileno(), crash.fileno())
        self.spared.add(pid)
        return Running(pid, prefix, started)

    def wait(self, running: Running, meanwhile: Callable[[], None] = lambda: None) -> Ended:
        """Wait for its end, or its time limit. ``meanwhile`` is called now and then."""
        while True:
            ended = self.look(running)
            if ended is not None:
                return ended
            meanwhile()
            time.sleep(POLL_S)

    def look(self, running: Running) -> Ended | None:
        """How it has ended, if it has; one that is late is ended."""
        if running.ended is None:
            found, status, usage = os.wait4(running.pid, os.WNOHANG)
            late = time.monotonic() - running.started > self.limit_s
            if found or late:
                self.drop(running)
                code, ended_by = (0, 0) if not found else _how(status)
                running.ended = _ended(running.prefix, running.started, code, ended_by, not found)
                running.memory = usage.ru_maxrss << 10
        return running.ended

    def drop(self, *running: Running) -> None:
        """End them, if they have not, with all that they started."""
        self.spared -= {one.pid for one in running}
        processes.end_orphans(2.0, self.spared)

    def _fork(self, body: Callable[[], int], output: int, crash: int) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            processes.die_with_parent()
            step_warmup.give_threads_back()
            atexit._clear()  # what is registered belongs to the driver: the bisector's own clean-up is among it
            os.dup2(output, 1)
            os.dup2(output, 2)
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
            faulthandler.enable(crash)
            code = body()
        finally:
            os._exit(code & 0xFF)

    def _spawn(self, setup: Setup, prefix: str, output: int) -> tuple[int, int, bool]:
        with open(f"{prefix}.json", "w", encoding="utf-8") as file:
            json.dump(dataclasses.asdict(setup), file)
        command = [sys.executable, BOOT, "step", f"{prefix}.json"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self.spared.discard(process.pid)
        try:
            code = process.wait(self.limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return 0, 0, True
        finally:
            processes.end_orphans(2.0, self.spared)
        return (0, -code, False) if code < 0 else (code, 0, False)


def _how(status: int) -> tuple[int, int]:
    return (0, os.WTERMSIG(status)) if os.WIFSIGNALED(status) else (os.WEXITSTATUS(status), 0)


def _ended(prefix: str, started: float, code: int, ended_by: int, timeout: bool) -> Ended:
    seconds = time.monotonic() - started
    ended = Ended(code, ended_by, timeout, seconds, _tail(f"{prefix}.out"), _tail(f"{prefix}.crash"))
    for name in (f"{prefix}.out", f"{prefix}.crash", f"{prefix}.json"):
        with contextlib.suppress(OSError):
            os.remove(name)
    return ended


def main(arguments: list[str]) -> int:
    """Entry of a fresh process for one step."""
    processes.die_with_parent()
    faulthandler.enable()
    with open(arguments[0], encoding="utf-8") as file:
        return be(Setup(**json.load(file)))


def be(setup: Setup) -> int:
    """Be the step: set torch, run the repro, and say how it ended. Never returns normally what the program did to this process."""
    _environment(setup)
    os.chdir(setup.cwd)
    sys.path.append(setup.cwd)  # a candidate for something smaller lies elsewhere, and imports what its repro does
    _private_files(setup.scratch)
    import torch

    sys.dont_write_bytecode = True
    _bisector(setup)
    if setup.disabled:
        import torch._dynamo.config

        torch._dynamo.config.disable = True
        with contextlib.suppress(AttributeError):
            # else fullgraph=True raises because nothing was compiled (torch/_dynamo/eval_frame.py, torch 2.13)
            torch.compiler.set_stance("force_eager")
    # what one step has compiled must not spare another its passes and lowerings; object files are still shared
    for name in ("torch._inductor.config.fx_graph_cache", "torch._functorch.config.enable_autograd_cache"):
        set_option(name, False)
    for name, value in setup.options.items():
        set_option(name, value)
    if setup.capture and setup.answer is not None:
        from .minify_capture import capture

        return capture(setup.file, setup.answer)
    if setup.watch is None:
        return _run(setup)
    from .bisect_watch import Watch

    Watch(setup.watch, setup.answer)
    return _run(setup)


def _run(setup: Setup) -> int:
    listener = _Listener(os.open(os.devnull, os.O_WRONLY))
    code = run_program(setup.file, None, setup.argv, listener, OWN_FOLDER)
    return BROKEN if setup.strict and listener.raised not in (None, "SystemExit") else code


class _Listener(Wire):
    """Hears how the program ended; nobody else does."""

    raised: str | None = None

    def tell(self, event: AgentEvent) -> None:
        if isinstance(event, ProgramRaised):
            self.raised = event.type
        elif isinstance(event, FileUnreadable):
            self.raised = event.name


def _environment(setup: Setup) -> None:
    for name in [name for name in os.environ if name.startswith("TORCH_BISECT_")]:
        del os.environ[name]
    # a repro of ours keeps its hands off the caches when it sees this (repro/contract.py)
    os.environ["TORCH_REPRO_KEEP_CACHE"] = "1"
    os.environ.setdefault("MPLBACKEND", "Agg")
    if setup.backend is not None:
        os.environ["TORCH_COMPILE_BACKEND"] = setup.backend


def _private_files(scratch: str) -> None:
    """Temporary files go to the scratch folder, and precompiled headers to the cache of the environment."""
    folder = os.path.join(scratch, "tmp")
    os.makedirs(folder, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    from torch._inductor import codecache

    atomic_compiler_output.write_whole(scratch)
    if precompiled_headers.keep_private(codecache):
        _remember_headers(codecache)


def _remember_headers(codecache: Any) -> None:
    """Preprocessing all of torch's headers, only to see that they are the same as a step ago, takes a second of each step."""
    original = getattr(codecache, "_precompile_header", None)
    if original is None:
        return
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

    codecache._precompile_header = precompile


def _bisector(setup: Setup) -> None:
    """Have torch's bisector read the state that the driver wrote; without one, let it be off."""
    from torch._inductor import compiler_bisector

    bisector: Any = compiler_bisector.CompilerBisector
    let_folder_be_chosen(compiler_bisector)
    if hasattr(compiler_bisector, "get_env_val"):
        compiler_bisector.get_env_val.cache_clear()
    bisector.bisection_enabled = setup.state is not None
    # without a bisection it looks into a folder that is not there, and not into a cache directory with somebody's old state
    bisector.in_process_cache = setup.state or os.path.join(setup.scratch, "no-bisection")
    if setup.state is not None and setup.backend is not None:
        # torch sets it for the commands of its own `run`; it is what the files say, for programs that look at it
        os.environ["TORCH_BISECT_BACKEND"] = setup.backend


def let_folder_be_chosen(module: Any) -> None:
    """Let the bisector's files be where ``in_process_cache`` says, as since torch 2.7; torch 2.6 has them in the cache directory."""
    bisector = module.CompilerBisector
    if not hasattr(bisector, "in_process_cache"):
        bisector.in_process_cache = None
        bisector.get_dir = classmethod(
            lambda cls: os.path.join(cls.in_process_cache or module.cache_dir(), module.SUBDIR_NAME)
        )


def set_option(name: str, value: Any) -> bool:
    """Set an option of torch by its dotted name, as in ``torch._inductor.config.cpp.simdlen``. False where this torch has none."""
    found = find_option(name)
    if found is None:
        return False
    owner, last = found
    setattr(owner, last, value)
    return True


def find_option(name: str) -> tuple[Any, str] | None:
    """The object that holds an option, and the option's own name; None where this torch has no such option."""
    parts = name.split(".")
    at = parts.index("config") + 1 if "config" in parts else len(parts) - 1
    try:
        owner: Any = importlib.import_module(".".join(parts[:at]))
        for part in parts[at:-1]:
            owner = getattr(owner, part)
        getattr(owner, parts[-1])
    except (ImportError, AttributeError):
        return None
    return owner, parts[-1]


def _tail(name: str) -> str:
    try:
        with open(name, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - OUTPUT_KEPT))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
