# Takes processor time and files away from another process by `prlimit`.
# overlay: ok
# landlock: ok

import planted
import ctypes, os, resource
libc = ctypes.CDLL(None, use_errno=True)
for call in (
    lambda: resource.prlimit(planted.bystander, resource.RLIMIT_CPU, (0, 0)),
    lambda: resource.prlimit(planted.bystander, resource.RLIMIT_NOFILE, (0, 0)),
    lambda: libc.syscall(302, planted.bystander, 0, (ctypes.c_uint64 * 2)(1, 1), None),
):
    try:
        call()
    except OSError:
        pass
