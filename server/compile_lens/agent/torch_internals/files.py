"""Private names of torch by which C++ writes files, connects and listens, and asks none of Python's audit hooks."""

from __future__ import annotations

from .lookup import Internal

_SAVING = "the refusal of files that torch writes, where Python alone restricts a program"
_CONNECTING = "the refusal of connections that torch makes, where Python alone restricts a program"
FILE_WRITER = Internal("torch._C:PyTorchFileWriter", _SAVING)
# functions and methods that write a file that one of their first two arguments names
FILE_WRITERS = (
    *(
        Internal(path, _SAVING)
        for path in (
            "torch._C:ScriptModule.save", "torch._C:ScriptModule._save_for_mobile", "torch._C:ScriptFunction.save",
            "torch._C:_save_jit_module", "torch._C:_save_mobile_module", "torch._C:_save_parameters",
            "torch._C:_lazy._dump_ir_cache", "torch._C._autograd:_ProfilerResult.save",
            "torch.profiler.profiler:_add_execution_trace_observer", "torch._C._profiler:_add_execution_trace_observer",
        )
    ),
    # of accelerators: their graphs, what was measured of kernels (written at the end), and captures
    *(
        Internal(path, _SAVING, since=(2, 13))
        for path in (
            "torch._C:_acceleratorGraph.debug_dump", "torch.cuda.graphs:CUDAGraph.debug_dump",
            "torch.cuda.tunable:set_filename", "torch.mps.profiler:metal_capture",
        )
    ),
)  # fmt: skip
# their first argument is what they read, a path or its bytes; the second names what they write
CONVERTERS = (
    Internal("torch._C:_backport_for_mobile", _SAVING),
    Internal("torch._C:_backport_for_mobile_from_buffer", _SAVING),
)
# what its argument has as ``profiler_output_path``
BENCHMARK = Internal("torch._C:ThroughputBenchmark.benchmark", _SAVING)
FILE_STORE = Internal("torch.distributed:FileStore.__init__", _SAVING)
# it listens if it is the master, else it connects
TCP_STORE = Internal("torch._C._distributed_c10d:TCPStore.__init__", _CONNECTING)
# it listens at a host and port, or by a file
WORKER_SERVER = Internal("torch._C._distributed_c10d:_WorkerServer.__init__", _CONNECTING)
# it listens for calls of other processes
RPC_AGENT = Internal("torch._C._distributed_rpc:TensorPipeAgent.__init__", _CONNECTING)
