# Makes pipes, devices and databases, saves, starts programs, signals, and waits for connections, by calls that Python does not audit.
# python: ok denied-network denied-process denied-read denied-write
# prints: nothing happened

import importlib.util
import multiprocessing.util
import os
import readline
import signal
import socket
import sqlite3

import safetensors.torch
import torch

home = os.path.expanduser("~")
beside = os.open(home, os.O_RDONLY)
parent = os.pidfd_open(os.getppid())
script = torch.jit.script(torch.nn.ReLU())
traced = torch.jit.trace(torch.sin, torch.ones(1))
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    torch.ones(1).sin()
known = {"traced": traced, "profile": profile, "home": home, "beside": beside, "os": os, "torch": torch, "script": script, "readline": readline, "safetensors": safetensors, "multiprocessing": multiprocessing, "parent": parent, "signal": signal, "socket": socket, "sqlite3": sqlite3, "database": sqlite3.connect(":memory:")}
benchmark = torch.utils.ThroughputBenchmark(torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2)))
benchmark.add_input(torch.ones(1, 2))
measured = {"num_calling_threads": 1, "num_warmup_iters": 1, "num_iters": 2}
known.update(benchmark=benchmark, measured=measured)
happened = []
for attempt in (
    "os.mkfifo(f'{home}/planted')",
    "os.mkfifo('planted', dir_fd=beside)",
    "os.mknod(path=f'{home}/planted')",
    "sqlite3.connect(f'{home}/planted')",
    "sqlite3.connect(f'file:{home}/plan%74ed?cache=shared', uri=True)",
    "sqlite3.connect(f'{home}/.ssh/id_ed25519')",
    "torch.save({}, f'{home}/planted')",
    "torch.jit.save(script, f'{home}/planted')",
    "script._c.save(f'{home}/planted'.encode())",
    "script._save_for_lite_interpreter(f'{home}/planted')",
    "torch.jit.save(traced, f'{home}/planted')",
    "torch.jit.save_jit_module_to_flatbuffer(script, f'{home}/planted')",
    "torch._C._save_jit_module(script._c, f'{home}/thesis.tex', {})",
    "torch._C._save_mobile_module(None, f'{home}/planted', {})",
    "torch._C._save_parameters({'step': torch.zeros(1)}, f'{home}/planted', True)",
    "torch._C._lazy._dump_ir_cache(f'{home}/planted')",
    "torch._C._acceleratorGraph.debug_dump(None, f'{home}/planted')",
    "torch.cuda.CUDAGraph.debug_dump(None, f'{home}/planted')",
    "torch.cuda.tunable.set_filename(f'{home}/planted')",
    "torch.mps.profiler.metal_capture(f'{home}/planted').__enter__()",
    "benchmark.benchmark(**measured, profiler_output_path=f'{home}/planted.json')",
    "profile.export_chrome_trace(f'{home}/planted.json')",
    "torch.profiler.ExecutionTraceObserver().register_callback(f'{home}/planted.json')",
    "torch.distributed.FileStore(f'{home}/planted', 1)",
    "torch.package.PackageExporter(f'{home}/planted')",
    "safetensors.torch.save_file({'step': torch.zeros(1)}, f'{home}/planted')",
    "readline.write_history_file(f'{home}/planted')",
    "readline.write_history_file()",
    "readline.append_history_file(0, f'{home}/thesis.tex')",
    "readline.read_init_file(f'{home}/.ssh/id_ed25519')",
    "readline.read_history_file(filename=f'{home}/.ssh/id_ed25519')",
    "multiprocessing.util.spawnv_passfds(b'/bin/touch', ['touch', f'{home}/planted'], [])",
    "os.posix_spawn('/bin/uname', ['uname'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 1, f'{home}/planted', os.O_WRONLY | os.O_CREAT, 0o644)])",
    "os.posix_spawnp('uname', ['uname'], {}, file_actions=iter([(os.POSIX_SPAWN_OPEN, 1, f'{home}/thesis.tex'.encode(), os.O_WRONLY | os.O_TRUNC, 0)]))",
    "os.posix_spawn('/bin/uname', ['uname'], {}, file_actions=((os.POSIX_SPAWN_OPEN, 0, f'{home}/.ssh/id_ed25519', os.O_RDONLY, 0),))",
    "signal.pidfd_send_signal(parent, signal.SIGUSR1)",
    "socket.socket().listen()",
    "socket.socket(socket.AF_INET6).listen(1)",
    "database.execute(f\"attach '{home}/planted' as other\")",
    "database.execute('attach ? as other', (f'{home}/planted',))",
    "database.set_authorizer(None) or database.execute(f\"attach '{home}/planted' as other\")",
    "database.set_authorizer(lambda *_: 0) or database.execute(f\"attach '{home}/planted' as other\")",
    "sqlite3.Connection.__mro__[1](':memory:')",
    "database.execute(f\"vacuum into '{home}/planted'\")",
    *(["__import__('_tkinter').create().eval(f'close [open {home}/planted w]')"] if importlib.util.find_spec("_tkinter") else []),
):
    try:
        eval(attempt, known)
    except (PermissionError, sqlite3.DatabaseError) as error:
        if "Compile Lens" in str(error) or "author" in str(error):
            continue
    happened.append(attempt)

# what it may do
os.mkfifo(os.environ["TMPDIR"] + "/pipe")
os.mknod("node", dir_fd=os.open(os.environ["TMPDIR"], os.O_RDONLY))
for name in (":memory:", "file::memory:", os.environ["TMPDIR"] + "/own.db"):
    sqlite3.connect(name, uri=True).execute("create table numbers (number)")
with sqlite3.connect(":memory:") as database:
    asked = []
    database.set_authorizer(lambda action, *_: asked.append(action) or sqlite3.SQLITE_OK)
    database.execute("attach '' as other")
    assert asked
    database.set_authorizer(None)
    database.execute(f"attach '{os.environ['TMPDIR']}/other.db' as another")
    database.execute("create table another.numbers (number)")
spawned = os.posix_spawn("/bin/uname", ["uname"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.environ["TMPDIR"] + "/name", os.O_WRONLY | os.O_CREAT, 0o600), (os.POSIX_SPAWN_CLOSE, 0)])
assert os.waitpid(spawned, 0)[1] == 0 and open(os.environ["TMPDIR"] + "/name").read().strip()
assert os.waitpid(os.posix_spawn("/bin/uname", ["uname"], {}), 0)[1] == 0
torch.save({"step": 3}, os.environ["TMPDIR"] + "/saved.pt")
assert torch.load(os.environ["TMPDIR"] + "/saved.pt") == {"step": 3}
torch.jit.save(script, os.environ["TMPDIR"] + "/script.pt")
torch.jit.save(traced, os.environ["TMPDIR"] + "/traced.pt")
torch.jit.save_jit_module_to_flatbuffer(script, os.environ["TMPDIR"] + "/script.ff")
benchmark.benchmark(**measured)
benchmark.benchmark(**measured, profiler_output_path=os.environ["TMPDIR"] + "/measured.json")
profile.export_chrome_trace(os.environ["TMPDIR"] + "/trace.json")
torch.distributed.FileStore(os.environ["TMPDIR"] + "/store", 1).set("step", "3")
safetensors.torch.save_file({"step": torch.ones(1)}, os.environ["TMPDIR"] + "/saved.safetensors")
assert safetensors.torch.load_file(os.environ["TMPDIR"] + "/saved.safetensors")["step"].item() == 1
readline.write_history_file(os.environ["TMPDIR"] + "/history")
multiprocessing.get_context("spawn").Pool(1).close()
own = socket.socket(socket.AF_UNIX)
own.bind(os.environ["TMPDIR"] + "/own")
own.listen()
signal.pidfd_send_signal(os.pidfd_open(os.getpid()), signal.SIGCONT)
print("nothing happened" if not happened else happened)
