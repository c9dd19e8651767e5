# Makes system calls of 32-bit programs and with the x32 bit.
# overlay: ok
# landlock: ok
# prints: refused 6 of 6

import planted
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
x32 = 0x40000000
refused = 0
for number in (101, 165, 302, 319, 2, 82):
    refused += libc.syscall(ctypes.c_long(x32 | number), 0, 0, 0, 0) == -1 and ctypes.get_errno() == 1
print("refused", refused, "of 6")
