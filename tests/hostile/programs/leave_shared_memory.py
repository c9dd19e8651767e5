# Leaves files and semaphores in shared memory, by native calls.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None)
libc.sem_open.restype = ctypes.c_void_p
libc.sem_open(b"/compile-lens-hostile-semaphore", 0o102, 0o600, 1)
descriptor = libc.shm_open(b"/compile-lens-hostile-left", 0o102, 0o600)
libc.ftruncate(descriptor, 1 << 20)
libc.close(descriptor)
