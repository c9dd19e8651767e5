# Reads a private key with calls of the C library.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None)
buffer = ctypes.create_string_buffer(1000)
libc.read(libc.open(os.fsencode(planted.key), 0), buffer, 999)
print(buffer.value.decode())
