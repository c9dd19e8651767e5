"""One run, in the process that is for it: the sandbox, the sink, the notes and the depth, then the program."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import sys
import time
from types import FrameType
from typing import IO, Any

from .. import OWN_FOLDER
from ..instrument.stacks import live_stack
from ..sandbox.enter import Sandbox, enter
from ..sandbox.policy import Policy
from .degraded import listen
from .wire import Wire

MOST_NAMES = 5
# tasks that run a file many times, and the module that drives each
DRIVERS = {"bisect": "bisect_driver", "minify": "minify_driver"}


def run(command: dict[str, Any], wire: Wire, crash: IO[bytes] | None) -> int:
    """Run the program, or drive the search that a task asks for; the exit code. ``crash`` takes the stack if the process is killed."""
    sys.dont_write_bytecode = True
    os.environ.update(command["env"])
    os.environ.setdefault("MPLBACKEND", "Agg")  # a background run opens no window
    # the interpreter has looked at it long ago
    sys.path[:0] = [path for path in command["env"].get("PYTHONPATH", "").split(os.pathsep) if path]
    try:
        sandbox = _enter_sandbox(command, wire)
    except OSError as error:
        wire.event("unsafe", message=f"{error}")
        return 1
    if command.get("cwd"):
        os.chdir(command["cwd"])  # again, now that there is another view of it
    if command.get("task"):
        driver = importlib.import_module(f"..search.{DRIVERS[command['task']['tool']]}", __package__)
        return int(driver.main(command["task"], wire))
    if crash is not None:
        faulthandler.enable(crash)
        # just before the time is up, which began to run before this process did
        faulthandler.dump_traceback_later(max(command["deadline"] - time.monotonic() - 0.1, 0.01), file=crash)
    from ..compare import comparer
    from ..instrument import depth, notes, trace_sink
    from ..substitutes.cuda.enable import prepare
    from ..substitutes.weights.enable import prepare as prepare_weights
    from ..variations.watcher import VariationWatcher
    from . import program
    from .libraries import library_roots

    trace_sink.install(wire)
    listen(lambda what, why: wire.event("degraded", what=what, why=why))
    request = command.get("vary")
    varied = VariationWatcher(request["names"], command["timeout_s"]) if request is not None else None
    notes.install(OWN_FOLDER, varied or _recorder(command))
    prepare(command, OWN_FOLDER, library_roots())
    prepare_weights(command, OWN_FOLDER, library_roots())
    depth.apply(command["depth"])
    if command.get("compare"):
        comparer.install()
    at_end = varied.at_end if varied is not None else lambda: None
    code = program.run(command["file"], command.get("text"), command["argv"], wire, OWN_FOLDER, command["plan"], at_end)
    if sandbox is not None:
        with contextlib.suppress(Exception):
            _tell_what_was_written(sandbox, wire)
    return code


def _recorder(command: dict[str, Any]) -> Any:
    """What watches the calls of compile regions, in a run that is to give a repro."""
    if command.get("capture") is None:
        return None
    from ..capture.recorder import CallRecorder
    from ..instrument import trace_sink
    from .libraries import library_roots

    recorder = CallRecorder(trace_sink.write_note, library_roots(), OWN_FOLDER, command["capture"]["exact_folder"])
    recorder.install()
    return recorder


def _enter_sandbox(command: dict[str, Any], wire: Wire) -> Sandbox | None:
    fields = command["sandbox"]
    if fields is None:
        return None

    def tell(what: str, does: str, target: str, frame: FrameType) -> None:
        wire.event("refused", what=what, does=does, target=target, stack=live_stack(frame, OWN_FOLDER))

    places = [os.path.dirname(command["file"]), *([command["cwd"]] if command.get("cwd") else [])]
    os.mkdir(fields["scratch"], 0o700)
    sandbox = enter(Policy.read(fields), fields["kind"], places, tell)
    wire.event("sandbox", kind=sandbox.kind, reason=fields["reason"], open_ends=list(sandbox.open_ends))
    return sandbox


def _tell_what_was_written(sandbox: Sandbox, wire: Wire) -> None:
    written = sandbox.written()
    if written:
        wire.event("not_kept", names=written[:MOST_NAMES], count=len(written))
