# Starts a process as a child of the one that started it, with another signal at its end, and ends first.
# overlay: ok
# landlock: ok

import planted
import ctypes, os, platform
libc = ctypes.CDLL(None)
if platform.machine() == "x86_64":
    for flags in (0x8000 | 17, 0x8000 | 9, 17, 9, 0):
        if libc.syscall(56, ctypes.c_ulong(flags), None, None, None, None) == 0:
            libc.setsid()
            while True:
                libc.pause()
