# Mounts with each of the newer calls.
# overlay: ok
# landlock: ok
# prints: refused 10 of 10

import planted
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
refused = 0
for number in (428, 429, 430, 431, 432, 433, 442, 467, 443, 300):
    refused += libc.syscall(number, -100, b"/", 0, 0, 0, 0) == -1 and ctypes.get_errno() == 1
print("refused", refused, "of 10")
