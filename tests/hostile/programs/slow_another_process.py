# Lowers the priority of another process, of its group, and of all processes of the user.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for call in (
    lambda: os.setpriority(os.PRIO_PROCESS, planted.bystander, 19),
    lambda: os.setpriority(os.PRIO_PGRP, os.getpgid(planted.bystander), 19),
    lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19),
    lambda: libc.syscall(141, 0, planted.bystander, 19),
    lambda: libc.syscall(141, 2, 0, 19),
):
    try:
        call()
    except OSError:
        pass
