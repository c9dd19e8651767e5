# Makes system calls by their numbers: open, write, rename.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None)
path = os.fsencode(planted.file)
descriptor = libc.syscall(257, -100, path, 2, 0)
libc.syscall(1, descriptor, b"gone", 4)
libc.syscall(82, path, path + b".gone")
