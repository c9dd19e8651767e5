# Makes pipes, starts programs and waits for connections by names that only modules in C have; and has other modules in C, torch and their variables open files.
# python: ok denied-network denied-process denied-read denied-write
# prints: nothing happened

import _posixsubprocess
import _signal
import _ssl
import importlib.util
import os
import posix
import signal
import socket
import ssl
import subprocess

import _socket
import torch

home = os.path.expanduser("~")
scratch = os.environ["TMPDIR"]
key = f"{home}/.ssh/id_ed25519"
has = {name: importlib.util.find_spec(name) is not None for name in ("_gdbm", "_dbm")}
pipe = os.pipe()
fork_exec = "fork_exec(['touch', f'{home}/planted'], (b'/bin/touch',), True, (), None, None, -1, -1, -1, -1, -1, -1, *pipe, False, False, -1, None, None, None, -1, None, True)"
script = torch.jit.script(torch.nn.ReLU())
script._save_for_lite_interpreter(f"{scratch}/own.ptl")
own = open(f"{scratch}/own.ptl", "rb").read()
parent = os.pidfd_open(os.getppid())
certificates = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
happened = []
for attempt in (
    "posix.mkfifo(f'{home}/planted')",
    "posix.mknod(f'{home}/planted')",
    "posix.posix_spawn('/bin/uname', ['uname'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 1, f'{home}/planted', os.O_WRONLY | os.O_CREAT, 0o644)])",
    "_signal.pidfd_send_signal(parent, signal.SIGUSR1)",
    f"_posixsubprocess.{fork_exec}",
    *([f"subprocess._{fork_exec}"] if hasattr(subprocess, "_fork_exec") else []),
    "_socket.socket(socket.AF_INET, socket.SOCK_STREAM).listen()",
    *(
        ["__import__('_dbm').open(f'{home}/planted', 'c')", "__import__('dbm.ndbm').ndbm.open(f'{home}/planted', 'n')"]
        if has["_dbm"]
        else []
    ),
    *(
        ["__import__('_gdbm').open(f'{home}/planted', 'c')", "__import__('dbm.gnu').gnu.open(f'{home}/planted', 'nf')"]
        if has["_gdbm"]
        else []
    ),
    "certificates.load_cert_chain(key)",
    "certificates.load_verify_locations(cafile=key)",
    "_ssl._test_decode_cert(key)",
    "torch._C._profiler._add_execution_trace_observer(f'{home}/planted.json')",
    "torch._C._backport_for_mobile(f'{scratch}/own.ptl', f'{home}/planted', 5)",
    "torch._C._backport_for_mobile_from_buffer(own, f'{home}/planted', 5)",
    "torch.from_file(f'{home}/planted', shared=True, size=8)",
    "torch.from_file(f'{home}/thesis.tex', True, 2, dtype=torch.uint8).fill_(0)",
    "torch.from_file(key, size=8, dtype=torch.uint8)",
    "torch.UntypedStorage.from_file(f'{home}/planted', True, 8)",
    "torch.UntypedStorage.from_file(filename=key, nbytes=8)",
    "torch.distributed.TCPStore('127.0.0.1', 0, 1, True)",
    "torch.distributed.TCPStore(host_name='192.0.2.7', port=9, is_master=False)",
    "torch._C._distributed_c10d._WorkerServer('127.0.0.1', 0)",
    "torch._C._distributed_c10d._WorkerServer(f'{home}/planted')",
    "os.environ.update(LTC_SAVE_TENSORS_FILE=f'{home}/planted')",
    "os.putenv('FBGEMM_STATS_LOGPATH', f'{home}/planted')",
    "os.environ.__setitem__('TORCH_ADDR2LINE_BINARY', '/bin/touch')",
):
    try:
        eval(attempt)
    except PermissionError as error:
        if "Compile Lens" in str(error):
            continue
        happened.append(f"{attempt}: {error}")
        continue
    except Exception as error:
        happened.append(f"{attempt}: {error}")
        continue
    happened.append(attempt)

# what it may do
posix.mkfifo(f"{scratch}/pipe")
for name, there in has.items():
    if there:
        with __import__(name).open(f"{scratch}/numbers{name}", "c") as numbers:
            numbers[b"one"] = b"1"
        with __import__(name).open(f"{scratch}/numbers{name}", "r") as numbers:
            assert numbers[b"one"] == b"1"
certificates.load_default_certs()
torch.from_file(f"{scratch}/numbers", shared=True, size=2).fill_(7)
assert torch.from_file(filename=f"{scratch}/numbers", size=2).tolist() == [7, 7]
assert torch.UntypedStorage.from_file(f"{scratch}/numbers", False, 8).nbytes() == 8
torch.save(torch.ones(2), f"{scratch}/ones.pt")
assert torch.load(f"{scratch}/ones.pt", mmap=True).tolist() == [1, 1]
os.environ["LTC_SAVE_TENSORS_FILE"] = f"{scratch}/graphs"
os.environ["MKL_VERBOSE_OUTPUT_FILE"] = ""
os.environ["TORCH_ADDR2LINE_BINARY"] = ""
os.environ["SOME_FILE"] = f"{home}/planted"
assert subprocess.run(["uname"], capture_output=True, text=True).stdout.strip()
print("nothing happened" if not happened else happened)
