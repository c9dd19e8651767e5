# Starts threads as long as it can.
# landlock: killed budget

import planted
import ctypes, time
libc = ctypes.CDLL(None)
attributes = ctypes.create_string_buffer(256)
libc.pthread_attr_init(attributes)
libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(1 << 16))
thread = ctypes.c_ulong()
while libc.pthread_create(ctypes.byref(thread), attributes, libc.pause, None) == 0:
    pass
time.sleep(30)
