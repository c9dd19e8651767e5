# Fills memory with secret memory and System V segments.
# overlay: ok
# landlock: ok
# prints: refused 2 of 2
# memory: 0.5

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
refused = 0
for call in (
    lambda: libc.syscall(447, 0),
    lambda: libc.shmget(0, 1 << 29, 0o1600),
):
    try:
        refused += call() == -1
    except OSError:
        refused += 1
print("refused", refused, "of 2")
