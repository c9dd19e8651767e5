# Opens, reads and deletes message queues of the user.
# overlay: ok
# landlock: ok
# prints: refused 3 of 3, by descriptor {38}

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
refused = 0
for call in (
    lambda: libc.syscall(240, planted.queue[1:].encode(), 2, 0, None),
    lambda: libc.syscall(241, planted.queue[1:].encode()),
    lambda: libc.syscall(240, b'compile-lens-new', 0o102, 0o600, None),
):
    try:
        refused += call() == -1
    except OSError:
        refused += 1
errors = set()
for number in (242, 243, 244, 245):  # of a queue that is mounted as a file
    libc.syscall(number, -1, None, 0, None, None)
    errors.add(ctypes.get_errno())
print("refused", refused, "of 3, by descriptor", errors)
