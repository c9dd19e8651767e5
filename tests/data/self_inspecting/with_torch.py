# %% top of torch
import torch
print(sorted(n for n in vars(torch) if not n.startswith("_") and "compile_lens" in repr(vars(torch)[n])))
print([n for n in dir(torch) if "lens" in n.lower()])

# %% torch.load
import inspect, torch, torch.serialization
print(torch.load is torch.serialization.load, torch.load.__module__, torch.load.__qualname__, type(torch.load).__name__)
print(inspect.signature(torch.load), inspect.unwrap(torch.load) is torch.load, torch.load.__defaults__, torch.load.__closure__)
print(torch.load.__code__.co_filename.endswith("torch/serialization.py"), torch.load.__code__.co_firstlineno, inspect.getsource(torch.load)[:60], vars(torch.load))

# %% save and load
import io, torch
data = io.BytesIO()
torch.save({"a": torch.arange(3)}, data); data.seek(0)
print(torch.load(data), torch.load(io.BytesIO(data.getvalue()), weights_only=True))

# %% load of a missing file
import torch, traceback
try:
    torch.load("missing.pt")
except FileNotFoundError as error:
    print(error, error.filename, type(error).__name__)
    print(traceback.extract_tb(error.__traceback__)[0].line)

# %% load of a missing file without a handler
import torch
state = torch.load("missing.pt")
print(state)

# %% load_state_dict
import inspect, torch
print(torch.nn.Module.load_state_dict.__qualname__, inspect.signature(torch.nn.Module.load_state_dict), hasattr(torch.nn.Module.load_state_dict, "__wrapped__"))
print([c.load_state_dict.__code__.co_filename.rpartition("torch/")[2] for c in (torch.nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)])
layer = torch.nn.Linear(2, 2)
print(layer.load_state_dict(layer.state_dict()))

# %% hub
import inspect, torch
print(inspect.signature(torch.hub.load_state_dict_from_url), hasattr(torch.hub.load_state_dict_from_url, "__wrapped__"), torch.hub.load_state_dict_from_url.__module__, torch.hub.load.__code__.co_filename.endswith("hub.py"))
print(torch.hub.load_state_dict_from_url.__code__.co_filename.endswith("torch/hub.py"))

# %% init_process_group
import inspect, torch, torch.distributed as dist
f = dist.init_process_group
print(f.__module__, f.__qualname__, f is dist.distributed_c10d.init_process_group, list(inspect.signature(f).parameters))
print(inspect.unwrap(f).__code__.co_filename.endswith("distributed_c10d.py"), dist.is_initialized(), dist.is_available(), dist.is_nccl_available(), dist.is_gloo_available())
print(dist.distributed_c10d._new_process_group_helper.__code__.co_filename.endswith("distributed_c10d.py"), hasattr(dist, "ProcessGroupNCCL"))
print({k: v.__module__ for k, v in dist.rendezvous.__globals__["_rendezvous_handlers"].items()})

# %% DistributedDataParallel
import inspect, torch
from torch.nn.parallel import DistributedDataParallel as DDP
print(DDP.__module__, DDP._ddp_init_helper.__qualname__, hasattr(DDP._ddp_init_helper, "__wrapped__"), list(inspect.signature(DDP).parameters)[:4])
from torch._C._distributed_c10d import Logger, Reducer
print(Logger.set_runtime_stats_and_log.__name__, Reducer.prepare_for_forward.__name__)
try:
    DDP(torch.nn.Linear(2, 2))
except Exception as error:
    print(type(error).__name__, str(error)[:60])

# %% spawn of torch
import inspect, sys, torch, torch.multiprocessing as mp
print(mp.spawn is sys.modules["torch.multiprocessing.spawn"].spawn, inspect.signature(mp.spawn), mp.spawn.__module__, mp.spawn.__code__.co_filename.endswith("spawn.py"))
print(mp.get_start_method(allow_none=True), mp.get_sharing_strategy())

# %% no process group without its variables
import torch.distributed as dist
print(dist.is_torchelastic_launched())
try:
    dist.get_rank()
except ValueError as error:
    print(str(error)[:70])

# %% torch.compile
import inspect, torch
print(torch.compile.__module__, torch.compile.__qualname__, inspect.signature(torch.compile), torch.compile.__code__.co_filename.endswith("torch/__init__.py"), type(torch.compile).__name__)

# %% class of what is compiled
import torch
f = torch.compile(lambda x: x + 1)
m = torch.compile(torch.nn.Linear(2, 2))
print(type(f).__name__, f.__name__, f.__qualname__, f.__module__, type(m).__qualname__, type(m).__module__, m._orig_mod.__class__.__name__)
print(f.__wrapped__.__name__, sorted(k for k in vars(f)), f.__code__.co_name, f.__code__.co_filename.endswith("torch/_dynamo/eval_frame.py"))

# %% compiled code runs
import torch
@torch.compile(backend="aot_eager")
def f(x, n):
    return (x * n).sum()
print(f(torch.ones(3), 2), f(torch.ones(4), 3), torch._dynamo.utils.counters["frames"])

# %% frame numbers
import torch
seen = []
def backend(gm, inputs):
    from torch._guards import CompileContext
    seen.append(str(CompileContext.current_compile_id()))
    return gm
@torch.compile(backend=backend)
def f(x): return x + 1
f(torch.ones(2)); f(torch.ones(3))
print(seen)

# %% stack in compiled code
import torch, inspect
@torch.compile(backend="eager")
def f(x):
    torch._dynamo.graph_break()
    return x + 1
def outer(x):
    return f(x)
seen = []
def backend(gm, inputs):
    seen.append([s.function for s in inspect.stack() if "compile_lens" in s.filename or "_compile_lens" in s.frame.f_globals.get("__name__", "")][:0])
    return gm
print(outer(torch.ones(2)), torch.compile(lambda x: x * 2, backend=backend)(torch.ones(1)), seen)

# %% backends
import torch
print(torch._dynamo.list_backends(), sorted(torch._dynamo.list_backends(None)))

# %% the backend of Inductor
import torch
from torch._dynamo.backends.registry import lookup_backend
print(lookup_backend("eager").__name__, lookup_backend("aot_eager").__name__ if hasattr(lookup_backend("aot_eager"), "__name__") else type(lookup_backend("aot_eager")).__name__)

# %% Inductor by name
# differs: backend
import torch
from torch._dynamo.backends.registry import lookup_backend
print(lookup_backend("inductor").__module__)

# %% configuration of Dynamo
import torch, torch._dynamo.config as c
print({k: v for k, v in sorted(c.to_dict().items() if hasattr(c, "to_dict") else c.shallow_copy_dict().items()) if isinstance(v, (int, str, float, bool, type(None))) and "file" not in k and "dir" not in k})

# %% configuration of Inductor
import torch, torch._inductor.config as c
names = {k: v for k, v in sorted((c.to_dict() if hasattr(c, "to_dict") else c.shallow_copy_dict()).items()) if isinstance(v, (int, str, float, bool, type(None)))}
print({k: v for k, v in names.items() if "dir" not in k and "path" not in k and "cache" not in k})
print({k: v for k, v in names.items() if "cache" in k and isinstance(v, bool)})

# %% configuration of functorch
import torch, torch._functorch.config as c
names = c.to_dict() if hasattr(c, "to_dict") else c.shallow_copy_dict()
print({k: v for k, v in sorted(names.items()) if isinstance(v, (int, str, float, bool, type(None)))})

# %% loggers of torch
import logging, torch
print([(n, logging.getLogger(n).level, len(logging.getLogger(n).handlers), logging.getLogger(n).propagate, len(logging.getLogger(n).filters)) for n in ("torch", "torch._dynamo", "torch._inductor", "torch.fx", "torch.distributed", "torch._functorch")])

# %% artifact loggers of torch
# differs: loggers
import logging, torch, torch._dynamo
print([(n, logging.getLogger(n).level) for n in ("torch.__trace", "torch._dynamo.convert_frame.__graph_breaks")])

# %% logs of torch
import logging, torch
torch._logging.set_logs(graph_breaks=True, recompiles=True)
@torch.compile(backend="eager")
def f(x):
    torch._dynamo.graph_break()
    return x + 1
stream = __import__("io").StringIO()
for n in ("torch", "torch._dynamo"):
    for h in logging.getLogger(n).handlers: print(n, type(h).__name__)
torch._logging.set_logs()

# %% default types and devices
import torch
print(torch.get_default_dtype(), torch.get_default_device(), torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"), torch.is_anomaly_enabled())
print(torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled(), torch.is_warn_always_enabled(), torch.overrides._get_current_function_mode_stack())

# %% devices
# differs: GPU
import torch
print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.is_initialized(), torch.version.cuda is None, torch.backends.cudnn.is_available(), torch.accelerator.is_available() if hasattr(torch, "accelerator") else None, torch.xpu.is_available(), torch.backends.mps.is_available())

# %% threads of torch
import torch
print(torch.get_num_threads(), torch.get_num_interop_threads())

# %% random numbers of torch
import torch
print(torch.random.default_generator.initial_seed() == torch.initial_seed())
torch.manual_seed(3)
print(torch.rand(2), torch.random.get_rng_state().sum())

# %% random numbers after compiling
import torch, random
torch.manual_seed(5); random.seed(5)
@torch.compile(backend="eager")
def f(x): return torch.nn.functional.dropout(x, 0.5)
print(f(torch.ones(8)), torch.rand(1), random.random())

# %% random numbers of NumPy
import numpy, torch
numpy.random.seed(1)
print(numpy.random.rand(2), numpy.random.get_state()[0], numpy.geterr(), numpy.get_printoptions()["precision"])

# %% printing of tensors
import torch
print(torch.tensor([1.0, 2.5]), torch.nn.Linear(2, 2), torch._tensor_str.PRINT_OPTS.precision)

# %% modules
import inspect, torch
M = torch.nn.Module
print(M.__call__.__qualname__, M.__call__.__code__.co_filename.endswith("module.py"), inspect.signature(M.__call__), M.__call__ is M._wrapped_call_impl, M.compile.__code__.co_filename.endswith("module.py"))
print(torch.nn.modules.module._global_forward_hooks, torch.nn.modules.module._global_forward_pre_hooks, torch.nn.modules.module._global_backward_hooks)

# %% optimizers
import inspect, torch
o = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1)
print(type(o).step.__qualname__, inspect.signature(o.step), o.step.__func__.__code__.co_filename.endswith(("optimizer.py", "sgd.py")), o.__class__.__mro__[1].__name__)

# %% loaders of data
import torch
from torch.utils.data import DataLoader, TensorDataset
d = DataLoader(TensorDataset(torch.arange(4)), batch_size=2, num_workers=0)
print(type(d).__module__, type(iter(d)).__name__, list(d))

# %% loaders of data with workers
import torch, os
from torch.utils.data import DataLoader, TensorDataset, get_worker_info
class D(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return i * 10 + get_worker_info().id
if __name__ == "__main__":
    print(list(DataLoader(D(), batch_size=2, num_workers=1)))

# %% autograd
import torch
x = torch.ones(2, requires_grad=True)
(x * 3).sum().backward()
print(x.grad, (x * 2).grad_fn.name(), torch._C._current_autograd_node() if hasattr(torch._C, "_current_autograd_node") else None)

# %% export
import inspect, sys, torch
print(torch.export.export.__module__, inspect.signature(torch.export.export), torch.export.export.__code__.co_filename.endswith("torch/export/__init__.py"), inspect.unwrap(torch.export.export) is torch.export.export)

# %% export of a module
import torch
print(torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)).graph_signature.user_outputs)

# %% pickling of functions of torch
import pickle, copy, torch
print(pickle.loads(pickle.dumps(torch.load)) is torch.load, pickle.loads(pickle.dumps(torch.compile)) is torch.compile, copy.deepcopy(torch.load) is torch.load)
print(type(copy.deepcopy(torch.nn.Linear(2, 2))), pickle.loads(pickle.dumps(torch.ones(2))))

# %% functions of main can be pickled
import pickle, functools
class C:
    def m(self): return 1
def f(): return 2
@functools.wraps(f)
def g(): return f()
print(pickle.loads(pickle.dumps(f)) is f, type(pickle.loads(pickle.dumps(C()))) is C, C.__module__, C.__qualname__, g.__wrapped__ is f)

# %% filters of warnings with torch
# differs: modules
import warnings, torch
print([(f[0], f[2].__name__, f[1] and f[1].pattern) for f in warnings.filters])

# %% warnings of torch
import warnings, torch
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.ones(2, requires_grad=True).sum().grad
    torch.nn.functional.dropout2d(torch.ones(2, 2))
print([(w.category.__name__, w.lineno, w.filename == __file__) for w in caught])

# %% exit functions of torch
import atexit, torch
print(atexit._ncallbacks() >= 0)

# %% hooks after torch
import sys, threading, torch
print(sys.excepthook is sys.__excepthook__, threading.active_count(), sys.gettrace(), sys.getrecursionlimit())

# %% finders after torch
import sys, torch
print(len(sys.meta_path))

# %% import of a module of the user
import os, sys
with open("helper_of_mine.py", "w") as file: file.write("import sys\nvalue = 3\nname, spec = __name__, __spec__\n")
import helper_of_mine, importlib
print(helper_of_mine.value, type(helper_of_mine.__loader__).__name__, helper_of_mine.spec.name, os.path.basename(helper_of_mine.__file__))
print(importlib.reload(helper_of_mine).value)
os.remove("helper_of_mine.py")

# %% bytecode of imported modules
# differs: bytecode
import os
with open("helper_cached.py", "w") as file: file.write("value = 3\n")
import helper_cached
print(helper_cached.__cached__ and os.path.exists(helper_cached.__cached__))
os.remove("helper_cached.py")
import shutil
shutil.rmtree("__pycache__", ignore_errors=True)

# %% package torchvision or nothing
import importlib.util
print(importlib.util.find_spec("torch").name, importlib.util.find_spec("no_such_module_here"))

# %% reset and counters
import torch, torch._dynamo
torch._dynamo.reset()
print(dict(torch._dynamo.utils.counters), torch._dynamo.utils.compile_times(repr="csv")[0][:0] if True else 0)

# %% explain
import torch
def f(x):
    print("in f")
    return x + 1
r = torch._dynamo.explain(f)(torch.ones(2))
print(r.graph_count, r.graph_break_count, len(r.break_reasons))

# %% error of compiled code
import torch, traceback
@torch.compile(fullgraph=True, backend="eager")
def f(x):
    torch._dynamo.graph_break()
    return x
try:
    f(torch.ones(2))
except Exception as error:
    print(type(error).__name__, type(error).__module__, str(error).replace(__file__, "FILE"))
    print([e.name for e in traceback.extract_tb(error.__traceback__)])

# %% error inside a compiled function
import torch, traceback
@torch.compile(backend="eager")
def f(x):
    return x.view(7)
try:
    f(torch.ones(2))
except Exception as error:
    print(type(error).__name__, [e.name for e in traceback.extract_tb(error.__traceback__)][:2])

# %% a warning of compiled code
import torch, warnings
@torch.compile(backend="eager")
def f(x):
    warnings.warn("seen")
    return x + 1
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    f(torch.ones(2))
print([str(w.message) for w in caught if w.filename == __file__])

# %% triton
import importlib.util
print(importlib.util.find_spec("triton") is not None)

# %% context variables of libraries
# differs: modules
import contextvars, torch
print(len(contextvars.copy_context()))
