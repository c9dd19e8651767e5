# Tries to make its read-only view of the disk writable.
# overlay: ok
# prints: -1

import planted
import ctypes
print(ctypes.CDLL(None).mount(None, b"/", None, 0x20 | 0x1000, None))
