# Kills another process through a descriptor of it, with queued signals and by thread.
# overlay: ok
# landlock: ok

import planted
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
for call in (
    lambda: signal.pidfd_send_signal(os.pidfd_open(planted.bystander), signal.SIGKILL),
    lambda: libc.syscall(129, planted.bystander, 9, (ctypes.c_int * 32)(9, 0, -1)),
    lambda: libc.syscall(234, planted.bystander, planted.bystander, 9),
    lambda: libc.syscall(200, planted.bystander, 9),
    lambda: libc.kill(planted.bystander, 19),
    lambda: libc.kill(-1, 19) if os.getuid() else None,
):
    try:
        call()
    except OSError:
        pass
