"""Distributed start-up in one process: no network, no other ranks.

Every group is torch's own ``fake`` backend, whose collectives come back at once: in a group of one that is what they do, and in a larger
one each rank seems to hold what this one holds. So a program can be rank 3 of 8, and its meshes and shards have their true shapes.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlparse

from .notes import Told

# what torchrun gives a process (torch/distributed/elastic/agent/server/local_elastic_agent.py)
ALONE = {
    "RANK": "0",
    "LOCAL_RANK": "0",
    "GROUP_RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_WORLD_SIZE": "1",
    "GROUP_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",
}


def install(told: Told) -> None:
    """Let ``torch.distributed`` start without other processes, and programs find torchrun's variables where they cannot do without."""
    import torch.distributed

    _supply_variables()
    if not torch.distributed.is_available():
        return
    from torch.distributed import distributed_c10d
    from torch.distributed.rendezvous import _rendezvous_handlers

    handlers: Any = _rendezvous_handlers
    for scheme in ("env", "tcp", "file"):
        handlers[scheme] = _meet_nobody
    group: Any = distributed_c10d
    group._new_process_group_helper = _without_others(group, told)
    if not group._NCCL_AVAILABLE:
        group._NCCL_AVAILABLE = True
        group.ProcessGroupNCCL = NoNccl
        torch.distributed.ProcessGroupNCCL = NoNccl
    _reduce_alone()
    _spawn_in_process(told)


def _reduce_alone() -> None:
    """Give the reducer of DistributedDataParallel the sum over this process alone: the work of the ``fake`` backend has no result."""
    import torch.distributed
    from torch.nn.parallel import DistributedDataParallel

    original = DistributedDataParallel._ddp_init_helper

    def gradients(state: Any, bucket: Any) -> Any:
        future: Any = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future

    @functools.wraps(original)
    def prepare(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        torch.distributed._register_comm_hook(self.reducer, None, gradients)

    DistributedDataParallel._ddp_init_helper = prepare
    # it asserts that there is a timer of the device. Another method of C++ keeps Dynamo's way: it knows neither of them.
    logger: Any = torch._C._distributed_c10d.Logger
    logger.set_runtime_stats_and_log = logger.__dict__["_set_uneven_input_join"]


class NoNccl:
    """Stands for ``ProcessGroupNCCL`` where torch is built without it: its options can be made, and no group is one."""

    class Options:
        """Takes what is set."""

        def __init__(self, is_high_priority_stream: bool = False) -> None:
            self.is_high_priority_stream = is_high_priority_stream


def _meet_nobody(url: str, timeout: Any = None, **_: Any) -> Iterator[tuple[Any, int, int]]:
    """A rendezvous handler: the store, this rank, and how many there are, by the URL or torchrun's variables."""
    import torch.distributed

    said = parse_qs(urlparse(url).query)
    rank = int(said.get("rank", [os.environ.get("RANK", "0")])[0])
    size = int(said.get("world_size", [os.environ.get("WORLD_SIZE", "1")])[0])
    yield torch.distributed.HashStore(), max(rank, 0), max(size, 1)


def _without_others(group: Any, told: Told) -> Any:
    original = group._new_process_group_helper

    @functools.wraps(original)
    def new_process_group(size: int, rank: int, ranks: Any, backend: Any, *arguments: Any, **named: Any) -> Any:
        import torch.testing._internal.distributed.fake_pg  # noqa: F401 - registers the backend

        for options in ("backend_options", "pg_options", "device_id"):
            if options in named:
                named[options] = None
        made = original(size, rank, ranks, group.Backend("fake"), *arguments, **named)
        if made[0] in group._world.pg_map:
            group._world.pg_map[made[0]] = (backend, group._world.pg_map[made[0]][1])
        count = "a group of one process" if size == 1 else f"a group of {size} processes whose others do not exist"
        if not ranks:
            told.happened("processes", f"This ran as rank {rank} in {count}, without a network.")
        return made

    return new_process_group


def _supply_variables() -> None:
    """``os.environ["RANK"]`` gives what torchrun would, instead of raising; that it is not set can still be seen by ``in`` and ``get``."""

    class Environment(type(os.environ)):  # type: ignore[misc]
        def __getitem__(self, key: str) -> str:
            try:
                return str(super().__getitem__(key))
            except KeyError:
                if key not in ALONE:
                    raise
                os.environ.update({name: value for name, value in ALONE.items() if name not in self})
                return ALONE[key]

        def __contains__(self, key: object) -> bool:
            return self._is_set(key)

        def get(self, key: str, default: Any = None) -> Any:
            return super().__getitem__(key) if self._is_set(key) else default

        def _is_set(self, key: object) -> bool:
            return isinstance(key, str) and self.encodekey(key) in self._data

    environment: MutableMapping[str, str] = os.environ
    environment.__class__ = Environment


def _spawn_in_process(told: Told) -> None:
    """``torch.multiprocessing.spawn`` runs the first of its processes here, where Dynamo is listened to, and none of the others."""
    import torch.multiprocessing

    def spawn(
        fn: Any, args: Any = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
    ) -> None:
        told.happened("processes", f"Only the first of {nprocs} processes ran, and in this one.")
        fn(0, *args)

    torch.multiprocessing.spawn = spawn
