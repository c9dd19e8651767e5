# Reads, changes and deletes System V objects of the user.
# overlay: ok
# landlock: ok
# prints: refused 7 of 7

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
refused = 0
for call in (
    lambda: libc.shmat(planted.segment, None, 0),
    lambda: libc.shmctl(planted.segment, 0, None),
    lambda: libc.msgctl(planted.messages, 0, None),
    lambda: libc.semctl(planted.semaphores, 0, 0),
    lambda: libc.shmget(0, 4096, 0o1600),
    lambda: libc.msgget(0, 0o1600),
    lambda: libc.semget(0, 1, 0o1600),
):
    try:
        refused += call() == -1
    except OSError:
        refused += 1
print("refused", refused, "of 7")
