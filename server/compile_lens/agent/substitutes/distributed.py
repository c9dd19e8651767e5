"""``torch.distributed`` in one process: no network, no other ranks.

Every group uses torch's own ``fake`` backend, whose collectives return at once. In a group of one that is the correct result; in a larger
group each rank seems to hold what this one holds. So a program can be rank 3 of 8, and its meshes and shards have their true shapes.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlparse

from ..instrument.in_place import call_first
from ..torch_internals import distributed as internals
from .notes import StandInNotes
from .unsupported import unsupported_is_noted


def prepare(notes: StandInNotes, spawns: bool, has_driver: bool) -> None:
    """Replace what needs other processes when the program starts distributed work; until then, and without it, all is torch's own.

    ``spawns``: processes of ``torch.multiprocessing.spawn`` are to start that work. ``has_driver``: there is a GPU.
    """
    import torch.distributed
    import torch.multiprocessing

    if not torch.distributed.is_available():
        return
    work = _DistributedWork(notes, has_driver)
    # whatever starts the work creates the default group with it: `init_device_mesh`, libraries
    work.undo = call_first(inspect.unwrap(torch.distributed.init_process_group), work.begin)
    if spawns:
        call_first(torch.multiprocessing.spawn, work.spawn)


def offer_nccl() -> None:
    """Let torch say that it has NCCL, as every build for the GPUs that this run emulates."""
    import torch.distributed

    if torch.distributed.is_available() and internals.NCCL_AVAILABLE.get() is False:
        internals.NCCL_AVAILABLE.set(True)
        for module in (internals.C10D.need(), torch.distributed):
            module.ProcessGroupNCCL = EmulatedNccl


class _DistributedWork:
    """What happens when the program starts it."""

    def __init__(self, notes: StandInNotes, has_driver: bool) -> None:
        self._notes = notes
        self._has_driver = has_driver
        self._begun = False
        self.undo: Callable[[], object] = lambda: None

    def begin(self, *_: Any, **__: Any) -> None:
        """Replace what needs other processes; the call that starts the work goes on."""
        if self._begun:
            return
        self._begun = True
        self.undo()
        with unsupported_is_noted(self._notes):
            handlers: Any = internals.RENDEZVOUS_HANDLERS.need()
            for scheme in ("env", "tcp", "file"):
                handlers[scheme] = _rendezvous_alone
            internals.NEW_PROCESS_GROUP.wrap(lambda original: _in_one_process(original, self._notes))
            offer_nccl()
            _reduce_alone(self._has_driver)

    def spawn(self, fn: Any, args: Any, nprocs: int, *_: Any) -> tuple[None]:
        """Run only the first process of ``torch.multiprocessing.spawn``, in this one, where Dynamo is traced."""
        self.begin()
        self._notes.add("processes", f"Only the first of {nprocs} processes ran, in the main process.")
        fn(0, *args)
        return (None,)


def _reduce_alone(has_driver: bool) -> None:
    """Give the reducer of DistributedDataParallel the sum over this process alone: the work of the ``fake`` backend has no result."""
    import torch

    def gradients(state: Any, bucket: Any) -> Any:
        future: Any = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future

    def with_hook(original: Callable[..., Any]) -> Callable[..., Any]:
        def prepare(self: Any, *arguments: Any, **named: Any) -> None:
            original(self, *arguments, **named)
            internals.REGISTER_COMM_HOOK.need()(self.reducer, None, gradients)

        return prepare

    internals.DDP_INIT.wrap(with_hook)
    # It asserts that there is a timer for the device. Another C++ method in its place keeps Dynamo's trace: it knows neither of them.
    internals.LOGGER_STATS.set(vars(internals.LOGGER.need())[internals.LOGGER_UNEVEN_INPUTS.name])
    if not has_driver:
        # the reducer's timers would start the CUDA driver of a build that has one (torch/csrc/distributed/c10d/reducer_cuda.cpp)
        internals.REDUCER_PREPARE.set(vars(internals.REDUCER.need())[internals.REDUCER_STATS.name])


class EmulatedNccl:
    """Replaces ``ProcessGroupNCCL`` where torch is built without it: its options can be created, and no group is an instance."""

    class Options:
        """Accepts any attribute."""

        def __init__(self, is_high_priority_stream: bool = False) -> None:
            self.is_high_priority_stream = is_high_priority_stream


def _rendezvous_alone(url: str, timeout: Any = None, **_: Any) -> Iterator[tuple[Any, int, int]]:
    """A rendezvous handler: the store, this rank and the world size, from the URL or torchrun's variables."""
    import torch.distributed

    query = parse_qs(urlparse(url).query)
    size, rank = _from_launcher()
    rank = int(query.get("rank", [rank])[0])
    size = int(query.get("world_size", [size])[0])
    yield torch.distributed.HashStore(), max(rank, 0), max(size, 1)


def _from_launcher() -> tuple[int, int]:
    """The world size and the rank that torchrun's variables say, or those of a process alone."""
    return int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))


def _in_one_process(original: Callable[..., Any], notes: StandInNotes) -> Callable[..., Any]:
    def new_process_group(size: int, rank: int, ranks: Any, backend: Any, *arguments: Any, **named: Any) -> Any:
        internals.FAKE_BACKEND.need()  # its import registers the backend
        if size < 1:  # MPI would say what they are (torch/distributed/distributed_c10d.py, ``init_process_group``)
            size, rank = _from_launcher()
        for options in ("backend_options", "pg_options", "device_id"):
            if options in named:
                named[options] = None
        made = original(size, rank, ranks, internals.C10D.need().Backend("fake"), *arguments, **named)
        groups = internals.WORLD.need().pg_map
        if made[0] in groups:
            groups[made[0]] = (backend, groups[made[0]][1])
        if not ranks:
            others = "the only rank" if size == 1 else f"one of {size} ranks; the others do not exist"
            notes.add("processes", f"Ran as rank {rank}, {others}. No network was used.")
        return made

    return new_process_group
