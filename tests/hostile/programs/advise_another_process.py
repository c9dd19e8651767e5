# Pages out, moves and ends the memory of another process.
# overlay: ok
# landlock: ok
# prints: refused 5 of 5

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
descriptor = libc.syscall(434, planted.bystander, 0)
numbers = (440, 448, 256, 279, 311)
refused = 0
for number in numbers:
    first = planted.bystander if number in (256, 279, 311) else descriptor
    result = libc.syscall(number, first, (ctypes.c_uint64 * 2)(4096, 4096), 1, 21, 0, 0)
    refused += result == -1 and ctypes.get_errno() == 1
print("refused", refused, "of", len(numbers))
