# Starts threads as long as it can: more than its limit, and no more than prove it.
# processes: 32
# overlay: killed budget
# landlock: killed budget

import planted
import ctypes, os, time
libc = ctypes.CDLL(None)
attributes = ctypes.create_string_buffer(256)
libc.pthread_attr_init(attributes)
libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(1 << 16))
thread = ctypes.c_ulong()
for _ in range(1000):
    if libc.pthread_create(ctypes.byref(thread), attributes, libc.pause, None) != 0:
        break
time.sleep(30)
