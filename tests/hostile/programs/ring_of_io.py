# Asks for a ring through which the kernel would write for it.
# overlay: ok
# landlock: ok
# prints: -1

import planted
import ctypes
print(ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(120)))
