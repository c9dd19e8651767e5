# Lowers the limit on core dumps to 0, with which a program of the system would take them.
# overlay: ok
# landlock: ok
# prints: limit 1

import planted
import ctypes, resource
libc = ctypes.CDLL(None)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
libc.syscall(160, 4, (ctypes.c_uint64 * 2)(0, 0))
libc.syscall(302, 0, 4, (ctypes.c_uint64 * 2)(0, 0), None)
print("limit", resource.getrlimit(resource.RLIMIT_CORE)[0])
