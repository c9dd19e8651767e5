"""What torch does in C++ with files and the network asks Python's audit hooks here.

Only where nothing but the hook restricts a program (agent/sandbox/calls.py). What reads only formats of its own, such as an archive, is
not asked about: it tells nothing of a file that is none.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from ..runtime.dynamo_skips import skipped
from ..torch_internals.files import (
    BENCHMARK,
    CONVERTERS,
    FILE_STORE,
    FILE_WRITER,
    FILE_WRITERS,
    RPC_AGENT,
    TCP_STORE,
    WORKER_SERVER,
)
from .unaudited_calls import LISTENS

# an event of ours: a path
SAVES = "compile_lens.save"
# where an agent of torch.distributed.rpc listens, if nothing says where
ANYWHERE = ("", 0)
# Variables of the environment that torch and its libraries follow in a program that sets nothing else, on a processor alone: a script may
# set those of NCCL or of a GPU where it uses neither, and must not end for that. The value is a file: graphs of lazy tensors
# (torch/csrc/lazy/core/debug_util.cpp), measurements of FBGEMM (fbgemm/src/FbgemmFP16.cc and others), and each call of MKL (oneMKL's guide
# for developers: "Using Intel oneMKL Verbose Mode") …
VARIABLES_OF_FILES = frozenset({"LTC_SAVE_TENSORS_FILE", "FBGEMM_STATS_LOGPATH", "MKL_VERBOSE_OUTPUT_FILE"})
# … or a program, which torch starts to name the lines of addresses (torch/csrc/profiler/unwind/unwind.cpp)
VARIABLES_OF_PROGRAMS = frozenset({"TORCH_ADDR2LINE_BINARY"})


def announce() -> None:
    """Have these functions raise events from now on. torch must be imported."""
    torch: Any = sys.modules["torch"]
    _announce_writing()
    _announce_tensors_in_files(torch)
    if torch.distributed.is_available():
        FILE_STORE.wrap(lambda make: skipped(_writing(make)))
        TCP_STORE.wrap(lambda make: skipped(_meeting(make)))
        WORKER_SERVER.wrap(lambda make: skipped(_serving(make)))
        if RPC_AGENT.look_up() is not None:  # not on every system
            RPC_AGENT.wrap(lambda make: skipped(_answering(make)))


def _announce_writing() -> None:
    writer = FILE_WRITER.get()
    if writer is not None:
        members = {"__init__": skipped(_writing(writer.__init__)), "__module__": writer.__module__}
        FILE_WRITER.set(type(writer)(writer.__name__, (writer,), members))
    for written in FILE_WRITERS:
        written.wrap(lambda write: skipped(_writing(write)))
    for converter in CONVERTERS:
        converter.wrap(lambda convert: skipped(_converting(convert)))
    BENCHMARK.wrap(lambda measure: skipped(_measuring(measure)))


def _announce_tensors_in_files(torch: Any) -> None:
    """Tensors and storages that lie in a file, which is made where it is shared."""
    # that of the class in C cannot be replaced
    in_c = inspect.getattr_static(torch.UntypedStorage, "from_file")

    def from_file(cls: Any, *given: Any, **named: Any) -> Any:
        return _mapping(in_c.__get__(None, cls))(*given, **named)

    torch.UntypedStorage.from_file = classmethod(skipped(from_file))
    torch.from_file = functools.wraps(torch.from_file)(skipped(_mapping(torch.from_file)))


def _writing(write: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(write)
    def announced(*given: Any, **named: Any) -> Any:
        # of a method, the first is the object
        for target in (*given[:2], *named.values()):
            # others are open already, and were asked then
            if isinstance(target, (str, bytes)):
                sys.audit(SAVES, target)
        return write(*given, **named)

    return announced


def _converting(convert: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(convert)
    def announced(read: Any, written: Any, *others: Any) -> Any:
        sys.audit(SAVES, written)
        return convert(read, written, *others)

    return announced


def _measuring(measure: Callable[..., Any]) -> Callable[..., Any]:
    """What it writes is named by an attribute of its argument."""

    @functools.wraps(measure)
    def announced(*given: Any, **named: Any) -> Any:
        for settings in (*given, *named.values()):
            if path := getattr(settings, "profiler_output_path", None):
                sys.audit(SAVES, path)
        return measure(*given, **named)

    return announced


def _mapping(make: Callable[..., Any]) -> Callable[..., Any]:
    def announced(*given: Any, **named: Any) -> Any:
        path = given[0] if given else named.get("filename")
        is_shared = given[1] if len(given) > 1 else named.get("shared")
        if isinstance(path, (str, bytes)):
            sys.audit("open", path, "r+" if is_shared else "r", 0)
        return make(*given, **named)

    return announced


def _meeting(make: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(make)
    def announced(
        self: Any,
        host_name: str,
        port: int,
        world_size: Any = None,
        is_master: bool = False,
        *others: Any,
        **named: Any,
    ) -> Any:
        sys.audit(LISTENS if is_master else "socket.connect", None, (host_name, port))
        return make(self, host_name, port, world_size, is_master, *others, **named)

    return announced


def _serving(make: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(make)
    def announced(self: Any, host_or_file: str, *port: Any, **named: Any) -> Any:
        at_port = port[0] if port else named.get("port", -1)
        sys.audit("socket.bind", None, host_or_file if at_port == -1 else (host_or_file, at_port))
        return make(self, host_or_file, *port, **named)

    return announced


def _answering(make: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(make)
    def announced(*given: Any, **named: Any) -> Any:
        sys.audit(LISTENS, None, ANYWHERE)
        return make(*given, **named)

    return announced
