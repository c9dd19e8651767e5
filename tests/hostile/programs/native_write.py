# Deletes and writes with calls of the C library.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None)
libc.unlink(os.fsencode(planted.file))
descriptor = libc.open(os.fsencode(planted.other), 2)
libc.write(descriptor, b"gone", 4)
