# With GPUs: looks for ways out of the folder in which its threads are named: to its root, its files and memory, and to what is more than a name.
# overlay: ok
# landlock: ok
# gpus: yes
# prints: written []

import planted
import ctypes, glob, os
libc = ctypes.CDLL(None)
written = []
around = f"/proc/{os.getpid()}/task/{os.getpid()}"
kept = os.path.relpath(planted.file, "/")
for name in (f"root/{kept}", f"cwd/{os.path.relpath(planted.file)}", f"root/proc/{planted.bystander}/comm"):
    descriptor = libc.open(os.fsencode(f"{around}/{name}"), os.O_WRONLY | os.O_APPEND)
    if descriptor >= 0:
        libc.write(descriptor, b"gone", 4)
for name in ("uid_map", "gid_map", "projid_map", "setgroups", "attr/current", "attr/exec", "attr/fscreate", "attr/keycreate", "attr/sockcreate"):
    descriptor = libc.open(os.fsencode(f"{around}/{name}"), os.O_WRONLY)
    if descriptor >= 0 and libc.write(descriptor, b"0 0 4294967295", 14) > 0:
        written.append(name)
for made in ("new", "comm.new"):
    for result in (
        libc.open(os.fsencode(f"{around}/{made}"), os.O_WRONLY | os.O_CREAT, 0o600),
        libc.mkdir(os.fsencode(f"{around}/{made}"), 0o700),
        libc.symlink(b"/", os.fsencode(f"{around}/{made}")),
        libc.link(planted.file.encode(), os.fsencode(f"{around}/{made}")),
        libc.rename(os.fsencode(f"{around}/comm"), os.fsencode(f"{around}/{made}")),
    ):
        if result >= 0:
            written.append(made)
print("written", written)
