# Moves another process to one core, and takes its input and output last.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for call in (
    lambda: os.sched_setaffinity(planted.bystander, {0}),
    lambda: libc.syscall(203, planted.bystander, 8, (ctypes.c_uint64 * 1)(1)),
    lambda: libc.syscall(251, 1, planted.bystander, 3 << 13),
    lambda: libc.syscall(251, 2, os.getpgid(0), 3 << 13),
    lambda: libc.syscall(251, 3, os.getuid(), 3 << 13),
):
    try:
        call()
    except OSError:
        pass
