# Hangs in a call of the C library, with the interpreter's lock held.
# timeout: 2
# overlay: timeout run-error

import planted
import ctypes
ctypes.PyDLL(None).sleep(600)
