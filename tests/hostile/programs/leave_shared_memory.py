# Leaves files and semaphores in shared memory, by native calls.
# overlay: ok
# landlock: ok

import planted
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.sem_open.restype = ctypes.c_void_p
libc.sem_open(b"/compile-lens-hostile-semaphore", 0o102, 0o600, 1)
# as torch names it
os.close(libc.shm_open(b"/torch_1_compile_lens_hostile_0", 0o102, 0o600))
descriptor = libc.shm_open(b"/compile-lens-hostile-left", 0o102, 0o600)
libc.ftruncate(descriptor, 1 << 20)
time.sleep(0.3)
libc.close(descriptor)
