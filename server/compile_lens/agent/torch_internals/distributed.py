"""Private names of ``torch.distributed``."""

from __future__ import annotations

from .lookup import Internal

_GROUPS = "process groups in one process"

LOGGER = Internal("torch._C:_distributed_c10d.Logger", "DistributedDataParallel in one process")
LOGGER_STATS = Internal(
    "torch._C:_distributed_c10d.Logger.set_runtime_stats_and_log", "DistributedDataParallel in one process"
)
LOGGER_UNEVEN_INPUTS = Internal(
    "torch._C:_distributed_c10d.Logger._set_uneven_input_join", "DistributedDataParallel in one process"
)
REDUCER = Internal("torch._C:_distributed_c10d.Reducer", "DistributedDataParallel in one process")
REDUCER_PREPARE = Internal(
    "torch._C:_distributed_c10d.Reducer.prepare_for_forward", "DistributedDataParallel in one process"
)
REDUCER_STATS = Internal(
    "torch._C:_distributed_c10d.Reducer.get_backward_stats", "DistributedDataParallel in one process"
)
REGISTER_COMM_HOOK = Internal("torch.distributed:_register_comm_hook", "DistributedDataParallel in one process")
C10D = Internal("torch.distributed.distributed_c10d", _GROUPS)
NCCL_AVAILABLE = Internal("torch.distributed.distributed_c10d:_NCCL_AVAILABLE", "the NCCL backend in one process")
NEW_PROCESS_GROUP = Internal("torch.distributed.distributed_c10d:_new_process_group_helper", _GROUPS)
WORLD = Internal("torch.distributed.distributed_c10d:_world", _GROUPS)
RENDEZVOUS_HANDLERS = Internal("torch.distributed.rendezvous:_rendezvous_handlers", _GROUPS)
DDP_INIT = Internal(
    "torch.nn.parallel:DistributedDataParallel._ddp_init_helper", "DistributedDataParallel in one process"
)
FAKE_BACKEND = Internal("torch.testing._internal.distributed.fake_pg", _GROUPS)
