# Changes how another process is scheduled, with each of the calls for it.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for call in (
    lambda: os.sched_setscheduler(planted.bystander, os.SCHED_IDLE, os.sched_param(0)),
    lambda: libc.syscall(144, planted.bystander, 5, (ctypes.c_int * 1)(0)),
    lambda: libc.syscall(142, planted.bystander, (ctypes.c_int * 1)(0)),
    lambda: libc.syscall(314, planted.bystander, (ctypes.c_uint32 * 14)(56, 5), 0),
):
    try:
        call()
    except OSError:
        pass
